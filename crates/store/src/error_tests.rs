use super::*;

#[test]
fn messages_read_well_after_error() {
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
            "/h/state.db stayed locked for 30 s, probably by process 7",
        ),
        (
            StoreError::Upgrade {
                path: "/h/state.db".into(),
                from: 6,
                doing: "create the indexes",
                backup: Some("/h/state.db.bak-v6-1".into()),
                source: rusqlite::Error::QueryReturnedNoRows.into(),
            },
            "could not upgrade /h/state.db from schema 6: failed to create the indexes; it is as it was, \
             and a copy of it is /h/state.db.bak-v6-1",
        ),
    ] {
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn a_record_error_carries_the_cause() {
    let error = Err::<(), _>(rusqlite::Error::QueryReturnedNoRows).doing("read a row");
    assert_eq!(
        RecordError::from(error.unwrap_err()),
        RecordError::Store { cause: "could not read a row: Query returned no rows".into() }
    );
}
