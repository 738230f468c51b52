//! Numbers and times as text.

/// A count with its noun: `1 file`, `3 files`.
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// A number of bytes: `12 B`, `3 KiB`, `1.5 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// A time in seconds since the epoch, as local date and minute.
pub fn local_time(epoch: f64) -> String {
    let seconds = epoch as i64;
    jiff::Timestamp::from_second(seconds).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned(hermes_runtime::clock::local_zone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
