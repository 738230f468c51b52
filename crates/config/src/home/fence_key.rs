//! The key of a home from which marks around untrusted text are derived: `fence.key`.
//!
//! It is created once. Another key would change the marks of new results, not of stored ones. A file that
//! cannot be read is kept; this process then uses a key of its own.

use super::{Home, PRIVATE_FILE, write_atomically};
use hermes_guard::FenceKey;

type Bytes = [u8; 32];

/// Returns the key, and creates it if there is none.
pub fn of(home: &Home) -> FenceKey {
    let bytes = read_or_make(home).unwrap_or_else(|error| {
        tracing::warn!(error, "fence.key cannot be used; another key is used until Hermes ends");
        rand::random()
    });
    FenceKey::new(bytes)
}

fn read_or_make(home: &Home) -> Result<Bytes, String> {
    if let Some(bytes) = read(home)? {
        return Ok(bytes);
    }
    let _lock = home.lock().map_err(|error| error.to_string())?;
    // Another process may have created it.
    if let Some(bytes) = read(home)? {
        return Ok(bytes);
    }
    let bytes: Bytes = rand::random();
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).chain(["\n".to_owned()]).collect();
    write_atomically(&home.fence_key_file(), text.as_bytes(), PRIVATE_FILE)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Returns `None` if the file does not exist.
fn read(home: &Home) -> Result<Option<Bytes>, String> {
    let path = home.fence_key_file();
    match std::fs::read_to_string(&path) {
        Ok(text) => match parse(text.trim()) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(format!("{} is not a key", path.display())),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

fn parse(text: &str) -> Option<Bytes> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = Bytes::default();
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_home_keeps_its_key() {
        let place = tempfile::tempdir().unwrap();
        let home = Home::at(place.path());
        let first = read_or_make(&home).unwrap();
        assert_eq!(read_or_make(&home).unwrap(), first);
        assert_ne!(first, Bytes::default());
        let mode = home.fence_key_file().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn an_invalid_key_file_is_kept() {
        for text in ["", "short", &"ü".repeat(32), &"g".repeat(64), &"+1".repeat(32)] {
            let place = tempfile::tempdir().unwrap();
            let home = Home::at(place.path());
            std::fs::write(home.fence_key_file(), text).unwrap();
            assert!(read_or_make(&home).is_err(), "{text}");
            of(&home);
            assert_eq!(std::fs::read_to_string(home.fence_key_file()).unwrap(), text);
        }
    }
}
