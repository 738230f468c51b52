//! Search in all scripts and with all kinds of punctuation.

use crate::desk::Desk;
use hermes_conversation::Transcript;
use hermes_store::{SearchFilter, SearchReport, Sort};
use std::path::PathBuf;

/// A message, and queries that must find only this message.
const SAID: &[(&str, &[&str])] = &[
    ("Où est la façade du café Müller?", &["façade", "facade", "CAFÉ", "muller", "Où", "café?"]),
    ("Zürich 2026-11-15 naïve résumé", &["zürich", "2026-11-15", "naïve", "resume", "2026-11*"]),
    ("我想学习中文搜索技术", &["中", "中文", "搜索", "中文搜索", "学习 技术", "\"中文搜索\"", "习中"]),
    ("東京でラーメンを食べた", &["京", "東京", "ラー", "ラーメン", "を"]),
    ("안녕하세요 세계", &["안녕", "세계", "녕", "안녕하세요"]),
    ("ค้นหาภาษาไทยได้", &["ไท", "ภาษา", "ภาษาไทย", "ได้"]),
    ("ການຄົ້ນຫາ ພາສາລາວ", &["ລາວ", "ພາ"]),
    ("البحث باللغة العربية", &["العربية", "البحث", "باللغة العربية"]),
    ("חיפוש בעברית", &["בעברית", "חיפוש"]),
    ("Поиск по-русски", &["поиск", "по-русски", "русски"]),
    ("हिन्दी में खोज", &["हिन्दी", "खोज"]),
    ("Αναζήτηση στα ελληνικά", &["αναζήτηση", "ΕΛΛΗΝΙΚΆ"]),
    ("ship it 🎉 now", &["🎉", "ship 🎉", "🎉 now"]),
    ("family 👨‍👩‍👧 and ❤\u{fe0f} 🇩🇪", &["👨‍👩‍👧", "❤", "❤\u{fe0f}", "🇩🇪"]),
    (
        "mail user@example.com today",
        &["user@example.com", "user@example.com.", "<user@example.com>", "@example"],
    ),
    ("see /usr/local/lib/x_y-z.so.1", &["/usr/local", "x_y-z.so", "/usr/local/lib/x_y-z.so.1", "z.so"]),
    (r"C:\Users\me\notes.txt", &[r"C:\Users", r"\me\", "notes.txt"]),
    ("it's Bob’s", &["it's", "bob's", "Bob’s"]),
    ("written in C++ and C# and F#", &["C++", "c++", "C#", "f#", "C++ F#"]),
    ("call a.b.c() then foo-bar", &["a.b", "foo-bar", "a.b.c()", "b.c"]),
    ("std::vector<int> v{1};", &["std::vector", "std::vector<int>", "v{1}"]),
    ("match x { _ => y } // -> z", &["=>", "match => y", "->"]),
    ("100% of $5.00 & #tag", &["100%", "$5", "$5.00", "#tag", "%"]),
    (
        "SELECT * FROM t WHERE a='1'; --",
        &["SELECT * FROM t", "a='1'", "a='1';", "\"FROM t WHERE\"", "t; DROP"],
    ),
    ("NEAR(one two, 3) col:val ^start", &["NEAR(one", "col:val", "^start", "NEAR(one two, 3)"]),
    ("snake_case and kebab-case_mix", &["snake_case", "kebab-case_mix", "snake"]),
    ("v1.2.3-rc.1 released", &["v1.2.3-rc.1", "v1.2.3", "1.2.3"]),
    ("https://example.org/a?b=c&d=e", &["https://example.org/a?b=c", "example.org", "b=c&d"]),
    ("数据库 server 错误", &["数据库 server", "错误 server", "server 库"]),
    ("~/.config/app", &["~/.config", ".config/app", "~/"]),
];

/// Returns true for queries of the table that match no message or several.
fn unwanted(query: &str) -> bool {
    matches!(query, "t; DROP")
}

async fn filled() -> Desk {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    for (text, _) in SAID {
        desk.say(&lease, text, "ok").await;
    }
    desk
}

async fn search(desk: &Desk, query: &str) -> SearchReport {
    desk.db.search(query, 50).await.unwrap()
}

async fn all_are_found(desk: &Desk, when: &str) {
    for (number, (_, queries)) in SAID.iter().enumerate() {
        // An answer follows each message.
        let want = i64::try_from(number).unwrap() * 2 + 1;
        for query in *queries {
            let report = search(desk, query).await;
            let found: Vec<_> = report.hits.iter().map(|hit| hit.message.0).collect();
            let want: &[i64] = if unwanted(query) { &[] } else { &[want] };
            assert_eq!((found.as_slice(), report.complete), (want, true), "{when}: {query}");
        }
    }
}

fn index_of(desk: &Desk) -> PathBuf {
    desk.path.with_file_name("search.db")
}

#[tokio::test]
async fn every_script_and_punctuation_is_found() {
    let desk = filled().await;
    all_are_found(&desk, "first").await;
    all_are_found(&desk.again(), "again").await;
    std::fs::remove_file(index_of(&desk)).unwrap();
    all_are_found(&desk, "index removed").await;
    std::fs::write(index_of(&desk), "not a database at all, but long enough to be looked at").unwrap();
    all_are_found(&desk.again(), "index overwritten").await;
}

#[tokio::test]
async fn search_works_without_the_pair_index() {
    let desk = filled().await;
    std::fs::create_dir(index_of(&desk)).unwrap();
    all_are_found(&desk, "no index").await;
}

#[tokio::test]
async fn only_a_damaged_file_is_rebuilt() {
    use std::os::unix::fs::MetadataExt;
    let desk = filled().await;
    let inode = || std::fs::metadata(index_of(&desk)).unwrap().ino();
    assert_eq!(search(&desk, "中文").await.hits.len(), 1);
    let before = inode();
    // The index of the database is missing, which the pair index did not cause.
    desk.raw().execute_batch("DROP TABLE messages_fts_trigram").unwrap();
    let desk = desk.again();
    assert_eq!(search(&desk, "中文搜索").await.hits.len(), 1);
    assert_eq!(std::fs::metadata(index_of(&desk)).unwrap().ino(), before);
    let index = rusqlite::Connection::open(index_of(&desk)).unwrap();
    index.execute_batch("UPDATE pairs_data SET block = x'00ff00ff' WHERE id > 10").unwrap();
    drop(index);
    for _ in 0..3 {
        assert_eq!(search(&desk.again(), "中文").await.hits.len(), 1);
    }
    assert_ne!(std::fs::metadata(index_of(&desk)).unwrap().ino(), before);
}

/// Adds rows like the Python release: its triggers index them, and its JSON is ASCII.
fn python_says(desk: &Desk, content: &str, tool_calls: Option<&str>) {
    desk.raw()
        .execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES ('s', 'user', ?1, ?2, 9)",
            (content, tool_calls),
        )
        .unwrap();
}

#[tokio::test]
async fn pair_index_catches_up_with_rows_of_the_python_release() {
    let desk = filled().await;
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 0);
    python_says(&desk, "看见蓝鲸了", None);
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 1);
    assert_eq!(search(&desk, "鲸").await.hits.len(), 1);
}

#[tokio::test]
async fn text_hidden_by_its_stored_form_is_found() {
    let desk = filled().await;
    python_says(
        &desk,
        "\0json:[{\"type\": \"text\", \"text\": \"\\u84dd\\u9cb8\\u6e38\\u6cf3 na\\u00efve C++\"}]",
        None,
    );
    let calls = r#"[{"id": "1", "function": {"name": "write", "arguments": "{\"t\": \"\u0441\u043b\u043e\u0432\u043e\"}"}}]"#;
    python_says(&desk, "", Some(calls));
    for (query, want) in [
        ("蓝", 1),
        ("蓝鲸", 1),
        ("蓝鲸游", 1),
        ("蓝鲸 C++", 1),
        ("слово", 1),
        ("слов*", 1),
        ("слов", 0),
        ("C++ NOT 蓝鲸", 1),
        ("naïve", 2),
    ] {
        let report = search(&desk, query).await;
        assert_eq!((report.hits.len(), report.complete), (want, true), "{query}");
    }
    assert_eq!(search(&desk, "蓝鲸").await.hits[0].snippet, ">>>蓝鲸<<<游泳 naïve C++");
}

#[tokio::test]
async fn deleted_messages_are_removed_from_the_index() {
    let desk = filled().await;
    let lease = desk.lease("other").await;
    desk.say(&lease, "蓝鲸", "是").await;
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 1);
    let indexed = || -> i64 {
        let index = rusqlite::Connection::open(index_of(&desk)).unwrap();
        index.query_row("SELECT COUNT(*) FROM pairs_docsize", [], |row| row.get(0)).unwrap()
    };
    let before = indexed();
    let db = desk.db.clone().with_liveness(|_| false);
    db.delete(&hermes_conversation::SessionId::new("other")).await.unwrap();
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 0);
    assert_eq!(indexed(), before - 2);
    // Messages that the Python release deletes are removed by optimize.
    desk.raw().execute("DELETE FROM messages WHERE content LIKE '%技术%'", []).unwrap();
    assert_eq!(search(&desk, "技术").await.hits.len(), 0);
    assert_eq!(indexed(), before - 2);
    db.optimize().await.unwrap();
    assert_eq!(indexed(), before - 3);
    assert_eq!(search(&desk, "東京").await.hits.len(), 1);
}

#[tokio::test]
async fn session_imported_again_is_found() {
    let desk = filled().await;
    let lease = desk.lease("other").await;
    desk.say(&lease, "蓝鲸", "是").await;
    let lease = desk.lease("later").await;
    desk.say(&lease, "白鹤", "是").await;
    let session = Some(hermes_conversation::SessionId::new("other"));
    let filter = hermes_store::ExportFilter { session, ..hermes_store::ExportFilter::default() };
    let exported = desk.export(filter, hermes_store::ExportFormat::Jsonl).await;
    let db = desk.db.clone().with_liveness(|_| false);
    db.delete(&hermes_conversation::SessionId::new("other")).await.unwrap();
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 0);
    assert_eq!(desk.db.import(&exported).await.unwrap().sessions.len(), 1);
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 1);
}

#[tokio::test]
async fn restored_older_database_is_noticed() {
    let desk = filled().await;
    let copy = desk.path.with_file_name("copy.db");
    desk.db.backup(&copy, hermes_store::Existing::Keep, |_, _| {}).await.unwrap();
    let lease = desk.lease("other").await;
    desk.say(&lease, "蓝鲸", "是").await;
    assert_eq!(search(&desk, "蓝鲸").await.hits.len(), 1);
    // The copy, in a home with the index of the newer database.
    let home = tempfile::tempdir().unwrap();
    std::fs::copy(&copy, home.path().join("state.db")).unwrap();
    std::fs::copy(index_of(&desk), home.path().join("search.db")).unwrap();
    let older = hermes_store::SessionDb::open(&home.path().join("state.db"), crate::desk::ticking()).unwrap();
    let lease = older.acquire(crate::desk::session("later"), crate::desk::owner(1)).await.unwrap().lease;
    older.open_turn(&lease, crate::desk::opening("白鹤")).await.unwrap();
    assert_eq!(older.search("白鹤", 9).await.unwrap().hits.len(), 1);
    assert_eq!(older.search("中文", 9).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn relaxed_search_ignores_punctuation() {
    let desk = filled().await;
    for (query, loosened) in [("user@example,com", true), ("snake-case", true), ("user@example.com", false)] {
        let report = search(&desk, query).await;
        assert_eq!((report.hits.len(), report.loosened), (1, loosened), "{query}");
    }
}

#[tokio::test]
async fn filters_and_pages_apply_to_every_index() {
    let desk = Desk::new();
    for (session, source) in [("a", "cli"), ("b", "cron")] {
        let new = hermes_store::NewSession { source: source.into(), ..crate::desk::session(session) };
        let lease = desk.db.acquire(new, crate::desk::owner(1)).await.unwrap().lease;
        for number in 0..5 {
            desk.say(&lease, &format!("fox 中文 x.y.z {number}"), "fox 中文 x.y.z").await;
        }
    }
    for query in ["fox", "中文", "x.y.z", "fox 中文", "fox OR 中文"] {
        let count = async |filter: SearchFilter| {
            let filter = SearchFilter { limit: 100, ..filter };
            desk.db.search_with(query, filter).await.unwrap().hits.len()
        };
        let all = SearchFilter::default;
        assert_eq!(count(all()).await, 20, "{query}");
        assert_eq!(count(SearchFilter { role: Some("user".into()), ..all() }).await, 10, "{query}");
        assert_eq!(count(SearchFilter { source: Some("cron".into()), ..all() }).await, 10, "{query}");
        let excluded_sources = vec!["cron".into(), "none".into()];
        assert_eq!(count(SearchFilter { excluded_sources, ..all() }).await, 10, "{query}");
        let session = Some(hermes_conversation::SessionId::new("a"));
        assert_eq!(count(SearchFilter { session, ..all() }).await, 10, "{query}");
        for sort in [Sort::Rank, Sort::Newest, Sort::Oldest] {
            let page = async |limit, offset| {
                let filter = SearchFilter { limit, offset, sort, ..all() };
                let hits = desk.db.search_with(query, filter).await.unwrap().hits;
                hits.into_iter().map(|hit| (hit.timestamp, hit.message.0)).collect::<Vec<_>>()
            };
            let whole = page(20, 0).await;
            assert_eq!([page(7, 0).await, page(13, 7).await].concat(), whole, "{query} {sort:?}");
            let mut sorted = whole.clone();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            match sort {
                Sort::Rank => {}
                Sort::Oldest => assert_eq!(whole, sorted, "{query}"),
                Sort::Newest => assert_eq!(whole, sorted.into_iter().rev().collect::<Vec<_>>(), "{query}"),
            }
            let middle = whole[10].0;
            let since = count(SearchFilter { since: Some(middle), ..all() }).await;
            let until = count(SearchFilter { until: Some(middle), ..all() }).await;
            assert_eq!(since + until, 20, "{query}");
        }
    }
}
