//! One file and several versions of SQLite: images and NUL bytes are written, changed and deleted by the
//! Python release on SQLite 3.40 and on a current one, and by this program.

use super::{CURRENT, Peer, closing, found, me, new_session, open, opening, python};
use hermes_conversation::{Content, Message, Opening, RawJson, SessionId, Transcript, UserMessage};
use hermes_store::{IndexHealth, NewSession, Reindexed, SessionDb, check, verify};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

const RELEASES: [&str; 3] = [CURRENT, "HERMES_PYTHON_OLD_17", "HERMES_PYTHON_OLD_13"];
/// A version whose trigram tokenizer stops at a NUL byte, and one that continues.
const OLD: &str = "HERMES_SQLITE_OLD";
const NEW: &str = "HERMES_SQLITE_NEW";

/// A Python release on one version of SQLite.
fn peer<'a>(release: &str, sqlite: &str, path: &'a Path) -> Option<Peer<'a>> {
    Some(Peer { python: python(release)?, path, sqlite: Some(python(sqlite)?) })
}

fn both(path: &Path) -> Option<[Peer<'_>; 2]> {
    Some([peer(CURRENT, OLD, path)?, peer(CURRENT, NEW, path)?])
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    (dir, path)
}

fn session(id: &str) -> NewSession {
    NewSession { id: SessionId::new(id), ..new_session() }
}

/// A session of ours with an image and text around a NUL byte.
async fn picture(db: &SessionDb, id: &str, text: &str) {
    let lease = db.acquire(session(id), me()).await.unwrap().lease;
    let parts = json!([{ "type": "text", "text": text },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAoAAAAHg" } }]);
    let content = Content::Parts(RawJson::parse(&parts.to_string()).unwrap());
    let turn = db.open_turn(&lease, Opening::from(UserMessage { content, api_content: None })).await.unwrap();
    db.close(&lease, turn, closing("seen")).await.unwrap();
    let turn = db.open_turn(&lease, opening(&format!("before {text}\0behind {text}"))).await.unwrap();
    db.close(&lease, turn, closing("read")).await.unwrap();
    assert!(db.drain(Duration::from_secs(10)).await.unwrap().complete);
}

/// Asserts that both indexes are intact for every version, including this program.
fn is_sound_for_all(path: &Path, peers: &[Peer<'_>; 2], when: &str) {
    for peer in peers {
        let checked = peer.ask("integrity", &["greenhouse", "温室里", "seen"]);
        assert_eq!(checked["file"], json!(["ok"]), "{when}");
    }
    let health = check(path);
    assert!(health.is_sound() && health.index == IndexHealth::Sound, "{when}: {health:?}");
    assert_eq!(verify(path).findings, [], "{when}");
}

#[tokio::test]
async fn file_with_images_is_intact_in_all_sqlite_versions() {
    for release in RELEASES {
        for sqlite in [OLD, NEW] {
            let (_dir, path) = file();
            let (Some(maker), Some(peers)) = (peer(release, sqlite, &path), both(&path)) else { return };
            let case = format!("{release} on {}", maker.ask("picture", &["py-a", "greenhouse 温室里种番茄"]));
            maker.ask("picture", &["py-b", "greenhouse two"]);
            let before = check(&path);
            assert!(before.is_sound() && before.index != IndexHealth::Damaged, "{case}: {before:?}");

            let db = open(&path);
            assert_eq!(db.reindexed(), Some(Reindexed::Messages(4)), "{case}");
            assert!(db.drain(Duration::from_secs(10)).await.unwrap().complete);
            assert_eq!(open(&path).reindexed(), None, "{case}: only once");
            is_sound_for_all(&path, &peers, &case);
            let mut hits = found(&db, "温室里").await;
            hits.sort();
            assert_eq!(hits, ["py-a assistant", "py-a tool", "py-a user"], "{case}");
        }
    }
}

#[tokio::test]
async fn both_programs_delete_rows_of_any_sqlite_version() {
    let (_dir, path) = file();
    let Some(peers) = both(&path) else { return };
    let db = open(&path);
    for (number, peer) in peers.iter().enumerate() {
        for name in ["deleted", "pruned", "ours"] {
            peer.ask("picture", &[&format!("py-{name}-{number}"), "greenhouse 温室里"]);
        }
        for name in ["touched", "deleted", "pruned"] {
            picture(&db, &format!("rs-{name}-{number}"), "greenhouse 温室里").await;
        }
    }
    is_sound_for_all(&path, &peers, "entered");
    // Each version handles rows that the other one inserted.
    for (number, peer) in peers.iter().enumerate() {
        let name = |kind: &str| format!("{kind}-{}", 1 - number);
        peer.ask("touch", &[&name("rs-touched")]);
        is_sound_for_all(&path, &peers, "changed");
        for kind in ["py-deleted", "rs-deleted"] {
            peer.ask("delete", &[&name(kind)]);
        }
        is_sound_for_all(&path, &peers, "deleted by Python");
        assert_eq!(peer.ask("prune", &[&name("py-pruned"), &name("rs-pruned")]), json!(2));
        is_sound_for_all(&path, &peers, "pruned by Python");
        db.delete(&SessionId::new(name("py-ours"))).await.unwrap();
        db.drain(Duration::from_secs(10)).await.unwrap();
        is_sound_for_all(&path, &peers, "deleted here");
    }
    assert_eq!(found(&db, "greenhouse").await.len(), 4);
}

#[tokio::test]
async fn index_with_leftovers_is_rebuilt_once() {
    let (_dir, path) = file();
    let Some(peers) = both(&path) else { return };
    let [old, new] = &peers;
    // Inserted by a version that continues, deleted by one that stops at the NUL byte.
    new.ask("picture", &["py-1", "greenhouse"]);
    new.ask("picture", &["py-2", "greenhouse"]);
    old.ask("delete", &["py-1"]);
    assert!(check(&path).is_sound());
    let db = open(&path);
    assert_eq!(db.reindexed(), Some(Reindexed::Everything));
    assert!(db.drain(Duration::from_secs(10)).await.unwrap().complete);
    is_sound_for_all(&path, &peers, "rebuilt");
    assert_eq!(found(&db, "greenhouse").await.len(), 4);
    assert_eq!(open(&path).reindexed(), None);
}

#[tokio::test]
async fn python_keeps_the_triggers_of_this_program() {
    let (_dir, path) = file();
    let Some(peers) = both(&path) else { return };
    let triggers = || -> Vec<String> {
        let db = rusqlite::Connection::open(&path).unwrap();
        let mut find =
            db.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name").unwrap();
        find.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    };
    drop(open(&path));
    let made = triggers();
    for (release, sqlite) in RELEASES.iter().flat_map(|release| [(release, OLD), (release, NEW)]) {
        let Some(peer) = peer(release, sqlite, &path) else { return };
        peer.ask("picture", &[&format!("{release}-{sqlite}"), "greenhouse"]);
        assert_eq!(triggers(), made, "{release} {sqlite}");
    }
    is_sound_for_all(&path, &peers, "written by all");
    let loaded = open(&path).load(&SessionId::new(format!("{CURRENT}-{OLD}"))).await.unwrap();
    assert!(matches!(&loaded.messages[0], Message::User(user) if matches!(user.content, Content::Parts(_))));
}
