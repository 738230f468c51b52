//! Keyed checksums for cache files that other programs of the user can write.
//!
//! A sealed text is a line with the checksum, followed by the text. Unsealing fails if the text was changed or
//! sealed for another purpose.

use crate::FenceKey;
use sha2::{Digest, Sha256};

/// The length of the first line, including the line break.
const LINE: usize = 65;

/// Puts the checksum before `bytes`.
pub fn seal(key: &FenceKey, purpose: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = checksum(key, purpose, bytes).into_bytes();
    out.push(b'\n');
    out.extend_from_slice(bytes);
    out
}

/// Returns the bytes after the checksum if it matches.
pub fn unseal<'a>(key: &FenceKey, purpose: &str, sealed: &'a [u8]) -> Option<&'a [u8]> {
    let (line, bytes) = sealed.split_at_checked(LINE)?;
    let wanted = checksum(key, purpose, bytes);
    let differing = wanted.bytes().zip(line).fold(0, |all, (a, b)| all | (a ^ b));
    (differing == 0 && line.ends_with(b"\n")).then_some(bytes)
}

/// Hashes twice, to prevent length extension.
fn checksum(key: &FenceKey, purpose: &str, bytes: &[u8]) -> String {
    let inner = Sha256::new()
        .chain_update(key.bytes())
        .chain_update((purpose.len() as u64).to_le_bytes())
        .chain_update(purpose)
        .chain_update(bytes)
        .finalize();
    let outer = Sha256::new().chain_update(key.bytes()).chain_update(b"seal").chain_update(inner).finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseal_needs_same_key_purpose_and_bytes() {
        let (own, other) = (FenceKey::new([1; 32]), FenceKey::new([2; 32]));
        let sealed = seal(&own, "skills", b"{}");
        assert_eq!(unseal(&own, "skills", &sealed), Some(&b"{}"[..]));
        assert_eq!(unseal(&own, "models", &sealed), None);
        assert_eq!(unseal(&other, "skills", &sealed), None);
        for changed in [&b"{}"[..], b"", &sealed[..sealed.len() - 1], &[&sealed[..], b" "].concat()] {
            assert_eq!(unseal(&own, "skills", changed), None, "{changed:?}");
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(unseal(&own, "skills", &changed), None, "byte {at}");
        }
        assert_eq!(unseal(&own, "", &seal(&own, "", b"")), Some(&b""[..]));
    }
}
