//! Hostile archives: path traversal, archive bombs, ambiguous entries, damage.

use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use std::io::Write;

const SKILL: &str = "---\nname: a\ndescription: b\n---\nbody\n";

/// One entry of a tar file: its kind, mode, path and content.
fn tar_entry(kind: u8, path: &str, content: &[u8]) -> Vec<u8> {
    let mut header = vec![0_u8; 512];
    header[..path.len().min(100)].copy_from_slice(&path.as_bytes()[..path.len().min(100)]);
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[156] = kind;
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].copy_from_slice(b"        ");
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header.extend_from_slice(content);
    header.resize(header.len().div_ceil(512) * 512, 0);
    header
}

fn tar(entries: &[(u8, &str, &[u8])]) -> Vec<u8> {
    let mut all: Vec<u8> =
        entries.iter().flat_map(|(kind, path, content)| tar_entry(*kind, path, content)).collect();
    all.extend([0; 1024]);
    all
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip file of deflated entries: path, Unix mode, content.
fn zip(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (path, mode, content) in entries {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        let packed = encoder.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let mut shared = vec![0, 0, 8, 0, 0, 0, 0, 0];
        for number in [crc.sum(), packed.len() as u32, content.len() as u32] {
            shared.extend(number.to_le_bytes());
        }
        shared.extend((path.len() as u16).to_le_bytes());
        let offset = out.len() as u32;
        out.extend(b"PK\x03\x04\x14\0");
        out.extend(&shared);
        out.extend([0, 0]);
        out.extend(path.as_bytes());
        out.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x03\x14\0");
        directory.extend(&shared);
        directory.extend([0; 8]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(path.as_bytes());
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        out.extend((entries.len() as u16).to_le_bytes());
    }
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn paths(package: &SkillPackage) -> Vec<&str> {
    package.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn all_archive_formats_give_the_same_package() {
    let plain = tar(&[
        (b'g', "pax_global_header", b"18 comment=1234567\n"),
        (b'5', "a-1.0/", b""),
        (b'0', "a-1.0/SKILL.md", SKILL.as_bytes()),
        (b'0', "a-1.0/.git/config", b"[core]"),
        (b'0', "a-1.0/scripts/run.sh", b"echo hi"),
    ]);
    let zipped = zip(&[
        ("a-1.0/", 0o040_755, b""),
        ("a-1.0/SKILL.md", 0o100_644, SKILL.as_bytes()),
        ("a-1.0/scripts/run.sh", 0, b"echo hi"),
    ]);
    let want = unpack(&plain).unwrap();
    assert_eq!(paths(&want), ["a-1.0/SKILL.md", "a-1.0/scripts/run.sh"]);
    assert_eq!(want.text("a-1.0/SKILL.md"), Some(SKILL));
    assert_eq!(unpack(&gzip(&plain)).unwrap(), want);
    assert_eq!(unpack(&zipped).unwrap(), want);
}

#[test]
fn names_with_a_nul_are_refused() {
    let (good, skill) = ((b'0', "SKILL.md", SKILL.as_bytes()), SKILL.as_bytes());
    let long = "scripts/a\0b\0";
    let pax = "21 path=scripts/a\0b.x\n";
    for (what, archive) in [
        ("tar", tar(&[good, (b'0', "scripts/a.sh\0.txt", b"x")])),
        ("long name", tar(&[good, (b'L', "n", long.as_bytes()), (b'0', "x", b"x")])),
        ("pax", tar(&[good, (b'x', "n", pax.as_bytes()), (b'0', "x", b"x")])),
        ("zip", zip(&[("SKILL.md", 0o100_644, skill), ("scripts/a.sh\0.txt", 0o100_644, b"x")])),
    ] {
        assert!(unpack(&archive).is_err(), "{what}");
    }
}

#[test]
fn long_names_are_decoded_and_checked() {
    let long = format!("a/{}/SKILL.md", "n".repeat(120));
    let record = format!("path={long}\n");
    let length = record.len() + 4;
    let pax = format!("{length} {record}");
    for kind in [(b'x', pax.as_bytes()), (b'L', long.as_bytes())] {
        let archive = tar(&[(kind.0, "note", kind.1), (b'0', "short", b"x")]);
        assert_eq!(paths(&unpack(&archive).unwrap()), [long.as_str()]);
    }
    let sneaky = tar(&[(b'L', "note", b"../../etc/cron.d/x"), (b'0', "short", b"x")]);
    assert!(matches!(unpack(&sneaky), Err(PackageError::Path { .. })));
    let sneaky = tar(&[(b'x', "note", b"16 path=../../x\n"), (b'0', "short", b"x")]);
    assert!(unpack(&sneaky).is_err());
}

#[test]
fn unsafe_paths_and_special_files_are_refused() {
    let outside = ["../x", "/etc/x", "a/../../x", "..\\x", "C:\\x", "a/./../../x"];
    for path in outside {
        let refused = |archive: &[u8]| matches!(unpack(archive), Err(PackageError::Path { .. }));
        assert!(refused(&tar(&[(b'0', "SKILL.md", b"x"), (b'0', path, b"x")])), "{path}");
        assert!(refused(&zip(&[("SKILL.md", 0, b"x"), (path, 0, b"x")])), "{path}");
    }
    for kind in *b"123456" {
        let refused = unpack(&tar(&[(kind, "x", b"")]));
        assert_eq!(matches!(refused, Err(PackageError::Kind { .. })), kind != b'5', "{kind}: {refused:?}");
    }
    let link = zip(&[("x", 0o120_777, b"/etc/passwd")]);
    assert!(matches!(unpack(&link), Err(PackageError::Kind { what: "a link", .. })));
    for (one, other) in [("SKILL.md", "skill.MD"), ("a/x", "A/y"), ("x", "x/y")] {
        assert!(matches!(
            unpack(&tar(&[(b'0', one, b"1"), (b'0', other, b"2")])),
            Err(PackageError::Twice { .. })
        ));
        assert!(matches!(unpack(&zip(&[(one, 0, b"1"), (other, 0, b"2")])), Err(PackageError::Twice { .. })));
    }
}

#[test]
fn archive_bombs_and_too_many_entries_are_refused() {
    let zeros = vec![0_u8; 900 * 1024];
    let many: Vec<(u8, String)> = (0..30).map(|at| (b'0', format!("f{at}"))).collect();
    let large: Vec<(u8, &str, &[u8])> =
        many.iter().map(|(kind, path)| (*kind, path.as_str(), zeros.as_slice())).collect();
    assert_eq!(unpack(&gzip(&tar(&large))), Err(PackageError::Bomb));
    let large_zip: Vec<(&str, u32, &[u8])> =
        many.iter().map(|(_, path)| (path.as_str(), 0, zeros.as_slice())).collect();
    assert_eq!(unpack(&zip(&large_zip)), Err(PackageError::Total { limit: MAX_TOTAL }));
    let huge = vec![0_u8; MAX_FILE + 1];
    let too_large = |result| matches!(result, Err(PackageError::FileSize { .. }));
    assert!(too_large(unpack(&tar(&[(b'0', "x", &huge)]))));
    assert!(too_large(unpack(&zip(&[("x", 0, &huge)]))));

    // The first thousands differ, so that it is their number that is refused.
    let names: Vec<String> = (0..3_000).map(|at| format!("d/{at}")).collect();
    let mut crowd: Vec<u8> = names.iter().flat_map(|name| tar_entry(b'0', name, b"")).collect();
    let crowded = Err(PackageError::Entries { limit: super::super::package::MAX_ENTRIES });
    assert_eq!(unpack(&crowd), crowded);
    crowd.extend(tar_entry(b'0', "d/2999", b"").repeat(97_000));
    assert!(matches!(unpack(&crowd), Err(PackageError::Total { .. })), "51 MB as they come");
    assert_eq!(unpack(&gzip(&crowd)), Err(PackageError::Total { limit: MAX_TOTAL }));
    let crowd: Vec<(&str, u32, &[u8])> = names.iter().map(|name| (name.as_str(), 0, &b""[..])).collect();
    let mut crowd = zip(&crowd);
    assert_eq!(unpack(&crowd), crowded);
    // A directory that says it is larger than any.
    let end = crowd.len() - 22;
    crowd[end + 8..end + 12].fill(0xff);
    assert_eq!(unpack(&crowd), crowded);
}

#[test]
fn zip_with_overlapping_entries_is_refused() {
    // Both entries of the directory point to the first file.
    let honest = zip(&[("a", 0, &[7; 50]), ("a", 0, &[7; 50])]);
    assert!(unpack(&honest).is_err(), "one name twice");
    let mut lying = zip(&[("a", 0, b"one"), ("b", 0, b"two")]);
    let directory = lying.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    lying[directory + 42..directory + 46].fill(0);
    assert!(matches!(unpack(&lying), Err(PackageError::Damaged(_))), "its name is another one");
}

#[test]
fn truncated_or_damaged_archive_does_not_panic() {
    let archives = [
        tar(&[(b'0', "SKILL.md", SKILL.as_bytes()), (b'x', "n", b"16 path=abc/def\n"), (b'0', "y", b"z")]),
        zip(&[("SKILL.md", 0, SKILL.as_bytes()), ("b", 0, b"c")]),
        gzip(&tar(&[(b'0', "SKILL.md", SKILL.as_bytes())])),
    ];
    for archive in &archives {
        for at in 0..archive.len() {
            let _ = unpack(&archive[..at]);
            let mut changed = archive.clone();
            changed[at] ^= 0xff;
            let _ = unpack(&changed);
        }
    }
    for bytes in [&b""[..], b"PK", b"PK\x05\x06", b"\x1f\x8b", b"hello", &[0; 2048]] {
        assert!(unpack(bytes).is_err(), "{bytes:?}");
    }
}
