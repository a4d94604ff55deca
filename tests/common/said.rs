//! A logger that keeps what the library says, of a test that is the only one of its process.

use std::sync::Mutex;

struct Said(Mutex<Vec<String>>);

static SAID: Said = Said(Mutex::new(Vec::new()));

impl log::Log for Said {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.level() == log::Level::Warn
    }

    fn log(&self, record: &log::Record) {
        self.0.lock().expect("no panic").push(record.args().to_string());
    }

    fn flush(&self) {}
}

/// From now on warnings are kept.
pub fn listen() {
    log::set_logger(&SAID).expect("the only logger");
    log::set_max_level(log::LevelFilter::Warn);
}

/// What has been said since this was asked last.
pub fn said() -> Vec<String> {
    std::mem::take(&mut SAID.0.lock().expect("no panic"))
}
