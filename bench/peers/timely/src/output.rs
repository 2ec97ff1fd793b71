//! Where figures go: standard output, which timely prints to, too, when it connects.

use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::{Mutex, OnceLock};

static FIGURES: OnceLock<Mutex<File>> = OnceLock::new();

/// Keeps standard output for figures, and sends what others print to standard error.
pub fn keep() {
    // SAFETY: the duplicate is a new descriptor that nobody else owns.
    unsafe {
        let own = libc::dup(1);
        libc::dup2(2, 1);
        let _ = FIGURES.set(Mutex::new(File::from_raw_fd(own)));
    }
}

/// Prints a figure, a line of JSON.
pub fn figure(line: &str) {
    let mut out = FIGURES.get().expect("keep was called first").lock().expect("nobody panics here");
    writeln!(out, "{line}").expect("standard output is open");
}
