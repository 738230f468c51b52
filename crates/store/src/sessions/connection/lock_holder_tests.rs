use super::*;

const LIST: &str = "\
1: POSIX  ADVISORY  READ 10 fe:00:500 1073741826 1073742335
2: POSIX  ADVISORY  WRITE 11 fe:00:501 120 120
2: -> POSIX  ADVISORY  WRITE 12 fe:00:501 120 120
3: POSIX  ADVISORY  READ 13 fe:00:501 124 124
4: -> FLOCK  ADVISORY  WRITE 14 fe:00:502 0 EOF
5: FLOCK  ADVISORY  WRITE 15 00:2b:502 0 EOF
6: FLOCK  ADVISORY  WRITE 16 fe:00:502 0 EOF
7: OFDLCK ADVISORY  WRITE -1 fe:00:503 0 EOF
8: FLOCK  ADVISORY  WRITE 0 fe:00:503 0 EOF
9: POSIX  ADVISORY  WRITE 17 103:1a:504 0 EOF
a line of some later kernel
";

fn file(major: u32, minor: u32, inode: u64) -> FileId {
    FileId { major, minor, inode }
}

#[test]
fn line_is_parsed_or_skipped() {
    let want = Lock {
        kind: "POSIX",
        is_exclusive: true,
        pid: 17,
        file: file(0x103, 0x1a, 504),
        first: 0,
        last: u64::MAX,
    };
    assert_eq!(LIST.lines().filter_map(parse).next_back(), Some(want));
    assert_eq!(LIST.lines().filter_map(parse).count(), 6);
}

#[test]
fn holder_is_the_lock_owner_and_not_a_waiter() {
    for (id, kind, byte, want) in [
        (file(0xfe, 0, 500), "POSIX", 0x4000_0002, Some(10)),
        (file(0xfe, 0, 501), "POSIX", 120, Some(11)),
        (file(0xfe, 0, 501), "POSIX", 124, Some(13)),
        (file(0xfe, 0, 501), "POSIX", 125, None),
        (file(0xfe, 0, 502), "FLOCK", 0, Some(16)),
        (file(0x00, 0x2b, 502), "FLOCK", 0, Some(15)),
        // The device that btrfs returns for its files is not in the list.
        (file(0x00, 0x30, 502), "FLOCK", 0, Some(15)),
        (file(0xfe, 0, 503), "FLOCK", 0, None),
        (file(0xfe, 0, 999), "FLOCK", 0, None),
    ] {
        let found = find(LIST, id, |lock| lock.kind == kind && lock.covers(byte, byte));
        assert_eq!(found, want, "{id:?} {kind} {byte}");
    }
}
