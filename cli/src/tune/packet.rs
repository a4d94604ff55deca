//! The best packet that is passed on along a chain of ranks.

use super::links::{LONGER, SHORT, SHORT_BYTES};
use super::ranks::Ranks;
use hypercoll::select::PACKET_COST;

/// What was found of packets.
pub struct Packet {
    pub best: usize,
    /// For each packet size in bytes the seconds per byte.
    pub tried: Vec<(usize, f64)>,
}

/// A packet size on trial.
struct Trial {
    packet: usize,
    /// Bytes of the short broadcast.
    bytes: usize,
    /// The least times of the short and the long one: whatever disturbs a run makes it longer, and differences feel it the most.
    least: [f64; 2],
    runs: usize,
    spent: f64,
}

/// Finds the packet size by broadcasts along the path through all ranks: seconds per byte of a long one less a short one.
pub fn measure(ranks: &Ranks, t_c: f64, eager: usize, seconds: f64) -> Packet {
    const LEAST_PACKETS: usize = 4;
    // The first run is a slow one: it makes its plan, and touches memory first.
    const LEAST_RUNS: usize = 2;
    const SHIFTS: std::ops::Range<u32> = 10..19;
    let share = seconds / SHIFTS.len() as f64;
    // A few packets must fit in the time.
    let fits = |packet: usize| 3.0 * ((LONGER + 1) * LEAST_PACKETS * packet) as f64 * t_c <= share;
    let sizes = SHIFTS.map(|shift| 1usize << shift).take_while(|packet| *packet == 1 << SHIFTS.start || fits(*packet));
    let trial = |packet: usize| {
        let bytes = ((SHORT / t_c) as usize).clamp(SHORT_BYTES, 4 << 20).max(LEAST_PACKETS * packet);
        Trial { packet, bytes, least: [f64::INFINITY; 2], runs: 0, spent: 0.0 }
    };
    let mut trials: Vec<Trial> = sizes.map(trial).collect();
    let most = trials.iter().map(|trial| trial.bytes).max().unwrap_or(0);
    let mut vector = vec![1u8; LONGER * most];
    // Where ranks play two nodes of a cube, its path goes through them twice, at half the rate: too little traffic to see what packets cost.
    let path = if ranks.cube.size().is_power_of_two() { "hamiltonian_path" } else { "chain" };
    // In turns, as what disturbs a machine lasts: next is the one that has had the least time, until all have had their share.
    let unfinished = |trial: &&mut Trial| trial.spent < share || trial.runs < LEAST_RUNS;
    while let Some(trial) = trials.iter_mut().filter(unfinished).min_by(|a, b| a.spent.total_cmp(&b.spent)) {
        trial.runs += 1;
        for (least, bytes) in trial.least.iter_mut().zip([trial.bytes, LONGER * trial.bytes]) {
            let call = ranks.cube.broadcast(0).algorithm(path).packet(trial.packet);
            let [time, spent] = ranks.once(|| ranks.sound(call.run(&mut vector[..bytes])));
            *least = least.min(time);
            trial.spent += spent;
        }
    }
    let time = |Trial { bytes, least: [short, long], .. }: &Trial| (long - short) / ((LONGER - 1) * bytes) as f64;
    let mut tried: Vec<(usize, f64)> = trials.iter().map(|trial| (trial.packet, time(trial))).collect();
    tried.retain(|(_, time)| *time > 0.0);
    Packet { best: best(&tried, eager), tried }
}

/// Of the packets that do not wait for their receivers, the one that is nearest to costing [`PACKET_COST`] besides its bytes, by all of them
/// together: which single one is the fastest differs from run to run.
fn best(tried: &[(usize, f64)], eager: usize) -> usize {
    let eager = if eager > 0 { eager } else { usize::MAX };
    let tried: Vec<_> = tried.iter().filter(|(packet, _)| *packet < eager).copied().collect();
    let (byte, packet) = fit(&tried);
    // Where packets cost all, noise may leave nothing for the bytes.
    let wanted = if byte > 0.0 { packet / (PACKET_COST * byte) } else { f64::INFINITY };
    // A size is nearest up to the geometric mean of it and the next one.
    let near = |bytes: &usize| wanted < *bytes as f64 * std::f64::consts::SQRT_2;
    let sizes = || tried.iter().map(|(bytes, _)| *bytes);
    sizes().find(near).or(sizes().next_back()).unwrap_or(1 << 10)
}

/// The seconds that a byte and that a packet costs: a and b of the line a + b / B that is nearest to the seconds per byte of packets of
/// B bytes, in the sum of squares, each as often as there are packets.
fn fit(tried: &[(usize, f64)]) -> (f64, f64) {
    // Packets a byte: the weight of a size, and its place on the line.
    let packets = |(bytes, _): &(usize, f64)| 1.0 / *bytes as f64;
    let total: f64 = tried.iter().map(packets).sum();
    if total == 0.0 {
        return (1.0, 0.0);
    }
    let mean =
        |value: &dyn Fn(&(usize, f64)) -> f64| tried.iter().map(|one| packets(one) * value(one)).sum::<f64>() / total;
    let (x, y) = (mean(&packets), mean(&|(_, time)| *time));
    let spread = mean(&|one| (packets(one) - x).powi(2));
    let slope = if spread > 0.0 { mean(&|one| (packets(one) - x) * (one.1 - y)) / spread } else { 0.0 };
    (y - slope * x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_1_kib(times: &[f64]) -> Vec<(usize, f64)> {
        times.iter().enumerate().map(|(at, &time)| (1024 << at, time)).collect()
    }

    #[test]
    fn the_line_is_found() {
        let (byte, packet) = fit(&from_1_kib(&[3.0, 2.0, 1.5, 1.25]));
        assert!((byte - 1.0).abs() < 1e-12 && (packet / 2048.0 - 1.0).abs() < 1e-12, "{byte} {packet}");
        assert_eq!(fit(&from_1_kib(&[3.0])), (3.0, 0.0));
        assert_eq!(fit(&[]), (1.0, 0.0));
    }

    #[test]
    fn packets_grow_with_what_they_cost() {
        let line = |packet: f64| from_1_kib(&[0, 1, 2, 3, 4, 5].map(|shift| 1.0 + packet / f64::from(1024 << shift)));
        assert_eq!(
            [0.0, 17.0, 20.0, 50.0, 1e6].map(|packet| best(&line(packet), 0)),
            [1, 1, 2, 4, 32].map(|kib| kib << 10)
        );
        // Those that wait count for nothing.
        assert_eq!(best(&line(1e6), 8 << 10), 4 << 10);
        assert_eq!(best(&from_1_kib(&[4.0, 2.0, 0.9, 0.4]), 0), 8 << 10);
        assert_eq!(best(&[], 0), 1 << 10);
    }

    /// Eight runs on stars of 8 and of 16 hosts. Broadcasts in packets of 2 KiB take 1.025 times as long as in those of 4 KiB there,
    /// exchanges of 64 KiB in packets of 8 KiB up to 1.1 times, of 16 KiB 1.4 times.
    #[test]
    fn noise_decides_nothing() {
        let runs: [&[f64]; 8] = [
            &[1.058, 1.027, 1.001, 1.005, 1.000, 1.014, 2.282, 3.995],
            &[1.066, 1.041, 1.000, 1.006, 1.004, 1.012, 3.918, 4.497],
            &[1.039, 1.022, 1.010, 1.004, 1.000, 1.015, 3.311, 2.750],
            &[1.049, 1.036, 1.004, 1.031, 1.000, 1.006, 1.489, 2.022],
            &[1.054, 1.045, 1.009, 1.000, 1.004, 1.013, 3.844, 4.440],
            &[1.044, 1.031, 1.010, 1.000, 1.005, 1.038, 14.628],
            &[1.058, 1.049, 1.021, 1.000, 1.004, 1.041, 3.465],
            &[1.058, 1.047, 1.009, 1.000, 1.013, 1.029, 3.722],
        ];
        for run in runs {
            assert_eq!(best(&from_1_kib(run), 64_512), 4 << 10, "{run:?}");
        }
    }
}
