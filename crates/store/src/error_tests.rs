use super::*;

#[test]
fn messages_read_well_after_the_error_prefix() {
    for (error, want) in [
        (
            StoreError::AmbiguousSession {
                wanted: "2026".into(),
                candidates: vec![SessionId::new("2026a"), SessionId::new("2026b")],
            },
            "`2026` matches several sessions: 2026a, 2026b",
        ),
        (
            StoreError::Locked { path: "/h/state.db".into(), seconds: 30, holder: Some(7) },
            "/h/state.db was locked for 30 s, probably by process 7; try again",
        ),
        (
            StoreError::Upgrade {
                path: "/h/state.db".into(),
                from: 6,
                doing: "create the indexes",
                backup: Some("/h/state.db.bak-v6-1".into()),
                source: rusqlite::Error::QueryReturnedNoRows.into(),
            },
            "cannot upgrade /h/state.db from schema 6: failed to create the indexes; it was not changed; \
             a backup is in /h/state.db.bak-v6-1",
        ),
    ] {
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn record_error_includes_the_cause() {
    let error = Err::<(), _>(rusqlite::Error::QueryReturnedNoRows).doing("read a row");
    assert_eq!(
        RecordError::from(error.unwrap_err()),
        RecordError::Store { cause: "cannot read a row: Query returned no rows".into() }
    );
}
