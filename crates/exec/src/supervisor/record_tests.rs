use super::*;

fn prepared() -> Prepared {
    let group = Group { id: 7, started: 8, boot: "b".into() };
    Prepared { version: 1, digest: "d".into(), group }
}

fn case() -> (tempfile::TempDir, CommandFile) {
    let dir = tempfile::tempdir().unwrap();
    let file = CommandFile::of(dir.path(), &Key::new("k").unwrap());
    (dir, file)
}

#[test]
fn record_contains_what_was_written_so_far() {
    let (_dir, file) = case();
    assert_eq!(file.read().unwrap(), None);
    let open = file.create(&prepared()).unwrap();
    assert_eq!(file.read().unwrap(), Some(Recorded { prepared: prepared(), end: None }));
    let end = End::unknown(3, "gone");
    write_end(&open, &end).unwrap();
    assert_eq!(file.read().unwrap(), Some(Recorded { prepared: prepared(), end: Some(end) }));
    file.remove().unwrap();
    file.remove().unwrap();
    assert_eq!(file.read().unwrap(), None);
}

#[test]
fn second_command_with_the_same_key_is_rejected() {
    let (_dir, file) = case();
    file.create(&prepared()).unwrap();
    assert!(file.create(&prepared()).is_err());
}

#[test]
fn incomplete_end_is_ignored_and_overwritten() {
    let (_dir, file) = case();
    let open = file.create(&prepared()).unwrap();
    let text = line(&End::unknown(0, "a long reason, longer than the other one")).unwrap();
    open.write_all_at(&text[..text.len() - 1], BLOCK as u64).unwrap();
    assert_eq!(file.read().unwrap().unwrap().end, None);
    write_end(&open, &End::unknown(0, "short")).unwrap();
    assert_eq!(file.read().unwrap().unwrap().end, Some(End::unknown(0, "short")));
}

#[test]
fn output_cannot_forge_an_end() {
    let (_dir, file) = case();
    let open = file.create(&prepared()).unwrap();
    let forged = line(&End::unknown(0, "forged")).unwrap();
    open.write_all_at(&forged, OUTPUT).unwrap();
    assert_eq!((file.read().unwrap().unwrap().end, file.output()), (None, forged.len() as u64));
}

#[test]
fn long_directory_is_omitted() {
    let (_dir, file) = case();
    let open = file.create(&prepared()).unwrap();
    let end = End { cwd: Some("x".repeat(BLOCK).into()), ..End::unknown(0, "r") };
    write_end(&open, &end).unwrap();
    assert_eq!(file.read().unwrap().unwrap().end, Some(End::unknown(0, "r")));
}

#[test]
fn unreadable_record_is_named_and_kept() {
    let (_dir, file) = case();
    for text in ["", "not a record", "not a record\n"] {
        std::fs::write(&file.path, text).unwrap();
        let error = file.read().unwrap_err().to_string();
        assert!(error.contains("k.cmd") && error.contains("not changed"), "{error}");
        assert_eq!(std::fs::read_to_string(&file.path).unwrap(), text);
    }
}

/// An end that was not synced is ignored after a reboot.
#[test]
fn unsynced_end_counts_only_in_its_own_boot() {
    for (boot, unsynced, is_believed) in
        [("b", true, false), ("b", false, true), (this_boot(), true, true), (this_boot(), false, true)]
    {
        let (_dir, file) = case();
        let group = Group { boot: boot.into(), ..prepared().group };
        let open = file.create(&Prepared { group, ..prepared() }).unwrap();
        write_end(&open, &End { how: EndReason::Exited, unsynced, ..End::unknown(3, "told") }).unwrap();
        let (digest, end) = file.ended().unwrap().unwrap();
        assert_eq!((digest.as_str(), end.how == EndReason::Exited), ("d", is_believed), "{boot} {unsynced}");
    }
}
