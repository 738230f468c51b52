use super::*;
use crate::sessions::search::query::groups;
use proptest::prelude::*;
use rusqlite::Connection;

fn led(table: Table, text: &str) -> Plan {
    Plan::Led(Lead { table, text: text.to_owned(), narrowed: Vec::new() })
}

#[test]
fn every_term_is_quoted() {
    for (query, want) in [
        ("hello", led(Table::Words, r#"("hello")"#)),
        ("two terms", led(Table::Words, r#"("two" AND "terms")"#)),
        ("foo NOT bar", led(Table::Words, r#"(("foo") NOT ("bar"))"#)),
        ("a OR b c", led(Table::Words, r#"("a") OR ("b" AND "c")"#)),
        ("pre***", led(Table::Words, r#"("pre"*)"#)),
        (r#""exact phrase" x"#, led(Table::Words, r#"("exact phrase" AND "x")"#)),
        ("col:val", led(Table::Trigrams, r#"("col:val")"#)),
        ("ภาษาไทย", led(Table::Trigrams, r#"("ภาษาไทย")"#)),
        ("中文", led(Table::Pairs, r#"("004e2d006587")"#)),
        ("中 OR 文", led(Table::Pairs, r#"("004e2d") OR ("006587")"#)),
    ] {
        assert_eq!(Plan::new(&groups(query)), want, "{query:?}");
    }
}

#[test]
fn word_index_leads_and_other_tables_narrow() {
    let narrowed = |table, text: &str, found| Narrowed { table, text: text.to_owned(), found };
    let plan = Plan::new(&groups("中文 main.rs panic NOT C#"));
    let want = Lead {
        table: Table::Words,
        text: r#""panic""#.to_owned(),
        narrowed: vec![
            narrowed(Table::Trigrams, r#""main.rs""#, true),
            narrowed(Table::Pairs, r#""004e2d006587""#, true),
            narrowed(Table::Pairs, r#""000063000023""#, false),
        ],
    };
    assert_eq!(plan, Plan::Led(want));
    assert!(plan.uses(Table::Pairs));
    assert!(matches!(Plan::new(&groups("fox OR 中文")), Plan::Union(leads) if leads.len() == 2));
}

fn index() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(
        "CREATE VIRTUAL TABLE messages_fts USING fts5(content);
         CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, tokenize='trigram');
         CREATE VIRTUAL TABLE pairs USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii');
         INSERT INTO messages_fts VALUES ('some text');
         INSERT INTO messages_fts_trigram VALUES ('some text');
         INSERT INTO pairs (rowid, words) VALUES (1, '000061');",
    )
    .unwrap();
    db
}

fn runs(db: &Connection, query: &str) -> rusqlite::Result<()> {
    let leads = match Plan::new(&groups(query)) {
        Plan::Led(lead) => vec![lead],
        Plan::Union(leads) => leads,
    };
    let texts = |lead: Lead| {
        let narrowed = lead.narrowed.into_iter().map(|narrowed| (narrowed.table, narrowed.text));
        std::iter::once((lead.table, lead.text)).chain(narrowed).collect::<Vec<_>>()
    };
    for (table, text) in leads.into_iter().flat_map(texts).filter(|(_, text)| !text.is_empty()) {
        let table = table.name();
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE {table} MATCH ?1");
        db.query_row(&sql, [text], |row| row.get::<_, i64>(0))?;
    }
    Ok(())
}

#[test]
fn very_long_queries_run() {
    let db = index();
    for query in ["a ", "a OR ", "a NOT b OR ", "\"x\" ", "中文字 ", "中 ", "中 a b.c OR "] {
        runs(&db, &query.repeat(2_000)).unwrap();
    }
}

proptest! {
    #[test]
    fn no_input_is_a_syntax_error(query in any::<String>()) {
        prop_assert!(runs(&index(), &query).is_ok());
    }

    #[test]
    fn no_mixture_of_operators_is_a_syntax_error(query in "([\"*()+:^{} \\-\0]|AND|OR|NOT|NEAR| |a|é|中|文|字){0,24}") {
        prop_assert!(runs(&index(), &query).is_ok());
    }
}
