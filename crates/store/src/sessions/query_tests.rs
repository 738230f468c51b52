use super::*;
use proptest::prelude::*;
use rusqlite::Connection;

fn words(text: &str) -> Question {
    Question::Words(text.to_owned())
}

#[test]
fn every_term_is_quoted() {
    for (query, want) in [
        ("", Question::Nothing),
        ("  \t", Question::Nothing),
        ("AND", Question::Nothing),
        ("OR NOT", Question::Nothing),
        ("+++ -- \"...\"", Question::Nothing),
        ("hello", words(r#"("hello")"#)),
        ("two words", words(r#"("two" AND "words")"#)),
        ("foo AND", words(r#"("foo")"#)),
        ("foo NOT bar", words(r#"(("foo") NOT ("bar"))"#)),
        ("NOT foo", words(r#"("foo")"#)),
        ("a OR b c", words(r#"("a") OR ("b" AND "c")"#)),
        ("pre*", words(r#"("pre"*)"#)),
        ("pre***", words(r#"("pre"*)"#)),
        (r#""exact phrase" x"#, words(r#"("exact phrase" AND "x")"#)),
        (r#"a "b c"#, words(r#"("a" AND "b" AND "c")"#)),
        ("col:val", words(r#"("col:val")"#)),
        ("NEAR(a b)", words(r#"("NEAR(a" AND "b)")"#)),
        ("it's", words(r#"("it's")"#)),
        ("user@example.com", words(r#"("user@example.com")"#)),
        ("a\0b", words(r#"("a" AND "b")"#)),
        ("中文搜索 rust", Question::Trigrams(r#"("中文搜索" AND "rust")"#.into())),
        ("ภาษาไทย", Question::Trigrams(r#"("ภาษาไทย")"#.into())),
    ] {
        assert_eq!(question(query), want, "{query:?}");
    }
    assert!(matches!(question("中文 搜索"), Question::Scan(groups) if groups[0].wanted.len() == 2));
    assert!(matches!(question("中文搜索 ab"), Question::Scan(_)));
}

fn index() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(
        "CREATE VIRTUAL TABLE words USING fts5(content);
         CREATE VIRTUAL TABLE trigrams USING fts5(content, tokenize='trigram');
         INSERT INTO words VALUES ('some text');
         INSERT INTO trigrams VALUES ('some text');",
    )
    .unwrap();
    db
}

fn runs(db: &Connection, query: &str) -> rusqlite::Result<()> {
    let (table, text) = match question(query) {
        Question::Words(text) => ("words", text),
        Question::Trigrams(text) => ("trigrams", text),
        Question::Nothing | Question::Scan(_) => return Ok(()),
    };
    let sql = format!("SELECT COUNT(*) FROM {table} WHERE {table} MATCH ?1");
    db.query_row(&sql, [text], |row| row.get::<_, i64>(0)).map(drop)
}

#[test]
fn very_long_queries_run() {
    let db = index();
    for query in ["a ", "a OR ", "a NOT b OR ", "\"x\" ", "中文字 "] {
        runs(&db, &query.repeat(2_000)).unwrap();
    }
}

proptest! {
    #[test]
    fn no_input_is_a_syntax_error(query in any::<String>()) {
        prop_assert!(runs(&index(), &query).is_ok());
    }

    #[test]
    fn no_mixture_of_signs_is_a_syntax_error(query in "([\"*()+:^{} \\-\0]|AND|OR|NOT|NEAR| |a|é|中|文|字){0,24}") {
        prop_assert!(runs(&index(), &query).is_ok());
    }
}
