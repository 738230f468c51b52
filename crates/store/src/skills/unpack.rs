//! Archives into parcels: `.tar`, `.tar.gz` and `.zip`, told apart by their bytes.
//!
//! Everything happens in memory and within limits. What an archive says about itself is never
//! believed: sizes are counted, and every entry goes through [`Packing`].

mod tar;
mod zip;

use super::parcel::{MAX_FILE, MAX_PACKED, MAX_TOTAL, Packing, Parcel, ParcelError};
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// Room for the headers of a tar file beside the files.
const MAX_UNPACKED: usize = MAX_TOTAL + 4 * 1024 * 1024;
/// Text packs to a tenth; what packs a hundred times better is there to fill a disk.
const MAX_RATIO: usize = 100;
/// Below this much nothing is a bomb.
const HARMLESS: usize = MAX_FILE;

/// Reads an archive. Anything odd in it refuses all of it.
pub fn unpack(bytes: &[u8]) -> Result<Parcel, ParcelError> {
    if bytes.len() > MAX_PACKED {
        return Err(ParcelError::Total { limit: MAX_PACKED });
    }
    let mut packing = Packing::default();
    if bytes.starts_with(b"\x1f\x8b") {
        let inner = inflated(MultiGzDecoder::new(bytes), bytes.len(), MAX_UNPACKED)?;
        tar::read(&inner, &mut packing)?;
    } else if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        zip::read(bytes, &mut packing)?;
    } else if tar::is_tar(bytes) {
        tar::read(bytes, &mut packing)?;
    } else {
        return Err(ParcelError::Damaged("it is no .tar, .tar.gz or .zip"));
    }
    Ok(packing.finish())
}

/// All that `packed` bytes unpack to, if that is a sensible amount.
fn inflated(reader: impl Read, packed: usize, most: usize) -> Result<Vec<u8>, ParcelError> {
    let sensible = (packed.saturating_mul(MAX_RATIO)).max(HARMLESS);
    let mut out = Vec::new();
    let limit = most.min(sensible) as u64 + 1;
    reader.take(limit).read_to_end(&mut out).map_err(|_| ParcelError::Damaged("it cannot be unpacked"))?;
    match out.len() {
        length if length > sensible => Err(ParcelError::Bomb),
        length if length > most => Err(ParcelError::Total { limit: MAX_TOTAL }),
        _ => Ok(out),
    }
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
