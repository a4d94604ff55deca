//! A bar on rank 0, if somebody watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io::{self, IsTerminal, Write};

/// A bar, or nothing.
pub struct Progress(ProgressBar);

impl Progress {
    /// Shows a bar if asked to, and if standard error ends at a terminal.
    pub fn new(show: bool) -> Progress {
        if !show || !(io::stderr().is_terminal() || launcher_has_terminal()) {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like_with_hz(Box::new(Line), 4));
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3} %  {elapsed}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress(bar)
    }

    /// Begins a stretch that ends when `whole` is reached.
    pub fn start(&self, what: &'static str, whole: f64) {
        self.0.set_message(what);
        self.0.set_length(steps(whole));
        self.0.set_position(0);
    }

    pub fn reach(&self, done: f64) {
        self.0.set_position(steps(done));
    }

    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

fn steps(amount: f64) -> u64 {
    (amount * 100.0) as u64
}

/// Whether the launcher, for which standard error of a rank is a pipe, passes it on to a terminal.
fn launcher_has_terminal() -> bool {
    #[cfg(target_os = "linux")]
    {
        let parent = std::os::unix::process::parent_id();
        let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
        let launcher = ["mpirun", "mpiexec", "orterun", "prterun", "hydra_pmi_proxy"]
            .iter()
            .any(|known| name.trim_end().starts_with(known));
        let target = std::fs::read_link(format!("/proc/{parent}/fd/2")).unwrap_or_default();
        launcher && (target.starts_with("/dev/pts") || target.starts_with("/dev/tty"))
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Standard error as a terminal of which only the last line is used.
#[derive(Debug)]
struct Line;

impl TermLike for Line {
    fn width(&self) -> u16 {
        80
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        io::stderr().write_all(text.as_bytes())
    }

    fn clear_line(&self) -> io::Result<()> {
        io::stderr().write_all(b"\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
