//! The histogram of a picture: how many pixels are how bright.
//!
//! Every rank reads its share of the rows and sorts their pixels into bins; one reduce adds the counts of all ranks on rank 0,
//! which draws them, once for each colour. Then it reads the whole picture and counts serially: the two must be equal.
//!
//! Pictures are binary PGM or PPM files (magic number P5 or P6), grey or red, green and blue, of 8 or 16 bits.
//!
//! ```text
//! cargo run --release --example image_histogram -- examples/data/sphere.pgm --threads 6
//! mpirun -n 6 target/release/examples/image_histogram picture.ppm
//! ```

mod common;

use hypercoll::collective::part;
use hypercoll::histogram::{Bins, Histogram};
use hypercoll::Hypercube;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

const BINS: usize = 32;

/// Where the pixels of a picture are, and what they are like.
struct Picture {
    path: PathBuf,
    width: usize,
    height: usize,
    /// 1 of a grey picture, 3 of a coloured one.
    channels: usize,
    /// The brightest value that there can be.
    white: u16,
    /// Where in the file the first pixel begins.
    start: u64,
}

impl Picture {
    /// Reads the header: the magic number, width, height and the brightest value, as decimal numbers after white space or
    /// comments (# to the end of the line); a single byte of white space, and the pixels begin.
    fn open(path: &Path) -> io::Result<Picture> {
        let mut file = BufReader::new(File::open(path)?);
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_string());
        let mut magic = [0; 2];
        file.read_exact(&mut magic)?;
        let channels = match &magic {
            b"P5" => 1,
            b"P6" => 3,
            _ => return Err(invalid("neither a binary PGM nor a binary PPM file (magic number P5 or P6)")),
        };
        let mut header = [0; 3];
        for field in &mut header {
            *field = number(&mut file)?.ok_or_else(|| invalid("a number is missing in the header"))?;
        }
        let [width, height, white] = header;
        let start = file.stream_position()?;
        let white = u16::try_from(white).ok().filter(|&white| white > 0).ok_or_else(|| invalid("not 8 or 16 bits"))?;
        let picture = Picture { path: path.to_path_buf(), width, height, channels, white, start };
        let len = picture.row_bytes().checked_mul(height).and_then(|bytes| start.checked_add(bytes as u64));
        if len.is_none_or(|len| file.get_ref().metadata().is_ok_and(|file| file.len() < len)) {
            return Err(invalid("the file ends before the picture does"));
        }
        Ok(picture)
    }

    fn sample_bytes(&self) -> usize {
        1 + usize::from(self.white > 255)
    }

    fn row_bytes(&self) -> usize {
        self.width.saturating_mul(self.channels * self.sample_bytes())
    }

    /// The values of some rows, each channel by itself.
    fn rows(&self, rows: Range<usize>) -> io::Result<Vec<Vec<u16>>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.start + (rows.start * self.row_bytes()) as u64))?;
        let mut bytes = vec![0; rows.len() * self.row_bytes()];
        file.read_exact(&mut bytes)?;
        let sample = |bytes: &[u8]| bytes.iter().fold(0, |value, &byte| value << 8 | u16::from(byte));
        let samples: Vec<u16> = bytes.chunks(self.sample_bytes()).map(sample).collect();
        let channel = |channel| samples.iter().copied().skip(channel).step_by(self.channels).collect();
        Ok((0..self.channels).map(channel).collect())
    }
}

/// The next number of a header, and the one byte after it.
fn number(file: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut digits = String::new();
    for byte in file.by_ref().bytes() {
        match byte? {
            b'#' if digits.is_empty() => break,
            digit @ b'0'..=b'9' => digits.push(char::from(digit)),
            space if space.is_ascii_whitespace() && digits.is_empty() => {}
            space if space.is_ascii_whitespace() => return Ok(digits.parse().ok()),
            _ => return Ok(None),
        }
    }
    let mut comment = Vec::new();
    if digits.is_empty() && file.read_until(b'\n', &mut comment)? > 0 {
        return number(file);
    }
    Ok(None)
}

fn main() {
    let told = common::arguments().into_iter().next().map(PathBuf::from);
    let path = told.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/sphere.pgm").into());
    let picture = Picture::open(&path).unwrap_or_else(|error| {
        eprintln!("{}: {error}", path.display());
        std::process::exit(2);
    });
    common::run(|cube| show(cube, &picture));
}

fn show(cube: &Hypercube, picture: &Picture) {
    let (rank, size) = (cube.rank(), cube.size());
    let own = picture.rows(part(0..picture.height, rank, size)).expect("the rows of this rank");

    // Bin i holds the values of i / 32 to (i + 1) / 32 of the way from black to just above white.
    let bins = Bins::uniform(0.0, f64::from(picture.white) + 1.0, BINS).expect("bins");
    let names: &[&str] = if picture.channels == 1 { &["grey"] } else { &["red", "green", "blue"] };
    let mut histograms = Vec::new();
    for values in &own {
        histograms.push(cube.histogram(values, &bins).on_root(0).expect("histogram"));
    }

    if rank == 0 {
        let serial = picture.rows(0..picture.height).expect("all rows");
        println!("{}: {} x {}", picture.path.display(), picture.width, picture.height);
        for ((name, histogram), values) in names.iter().zip(histograms.iter().flatten()).zip(&serial) {
            let mut expected = vec![0; BINS];
            for &value in values.iter().filter(|&&value| value <= picture.white) {
                expected[usize::from(value) * BINS / (usize::from(picture.white) + 1)] += 1;
            }
            assert_eq!(histogram.counts, expected, "{name}: counted serially");
            println!("{name}");
            draw(histogram, &bins);
        }
        println!("{size} ranks: equal to the serial histogram");
        println!("{}", cube.explain_last());
    }
}

fn draw(histogram: &Histogram, bins: &Bins) {
    let most = histogram.counts.iter().copied().max().unwrap_or(1).max(1);
    for (edge, &count) in bins.edges().iter().zip(&histogram.counts) {
        println!("{edge:7.0} {count:8} {}", "#".repeat((50 * count).div_ceil(most) as usize));
    }
}
