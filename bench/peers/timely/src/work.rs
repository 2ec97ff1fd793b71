//! What all systems compute alike, and what the kernel says of this process.

/// The value of record `n`: all bits of it look random.
#[inline(always)]
pub fn spread(n: u64) -> u64 {
    let h = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^ (h >> 29)
}

/// The part of a check that an output of a count is.
#[inline(always)]
pub fn checked(key: u64, count: u64) -> u64 {
    spread((key << 32) ^ count)
}

/// Processor time of this process so far, in seconds.
pub fn cpu_seconds() -> f64 {
    // SAFETY: the kernel fills in the struct that it is given.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t);
        t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
    }
}
