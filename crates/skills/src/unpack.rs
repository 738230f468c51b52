//! Unpacks archives: `.tar`, `.tar.gz` and `.zip`, recognised by their first bytes.
//!
//! Everything happens in memory and within limits. Declared sizes are not trusted: bytes are counted,
//! and every entry goes through [`PackageBuilder`].

mod tar;
mod zip;

use super::package::{MAX_FILE, MAX_PACKED, MAX_TOTAL, PackageBuilder, PackageError, SkillPackage};
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// Maximum size of a tar file, headers included.
const MAX_UNPACKED: usize = MAX_TOTAL + 4 * 1024 * 1024;
/// Maximum compression ratio. Text compresses to a tenth; a hundredth is an archive bomb.
const MAX_RATIO: usize = 100;
/// Below this size the ratio is not checked.
const HARMLESS: usize = MAX_FILE;

/// Unpacks an archive. One invalid entry refuses the whole archive.
pub fn unpack(bytes: &[u8]) -> Result<SkillPackage, PackageError> {
    if bytes.len() > MAX_PACKED {
        return Err(PackageError::Total { limit: MAX_PACKED });
    }
    let mut builder = PackageBuilder::default();
    if bytes.starts_with(b"\x1f\x8b") {
        let inner = inflated(MultiGzDecoder::new(bytes), bytes.len(), MAX_UNPACKED)?;
        tar::read(&inner, &mut builder)?;
    } else if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        zip::read(bytes, &mut builder)?;
    } else if tar::is_tar(bytes) {
        tar::read(bytes, &mut builder)?;
    } else {
        return Err(PackageError::Damaged("not a .tar, .tar.gz or .zip file"));
    }
    Ok(builder.finish())
}

/// Decompresses a stream of `packed` bytes within the limits.
fn inflated(reader: impl Read, packed: usize, most: usize) -> Result<Vec<u8>, PackageError> {
    let ratio_limit = (packed.saturating_mul(MAX_RATIO)).max(HARMLESS);
    let mut out = Vec::new();
    let limit = most.min(ratio_limit) as u64 + 1;
    reader.take(limit).read_to_end(&mut out).map_err(|_| PackageError::Damaged("decompression failed"))?;
    match out.len() {
        length if length > ratio_limit => Err(PackageError::Bomb),
        length if length > most => Err(PackageError::Total { limit: MAX_TOTAL }),
        _ => Ok(out),
    }
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
