//! A large database: text with a skewed vocabulary, including code and Chinese.

use super::open_store;
use crate::random::Random;
use anyhow::Result;
use rusqlite::{Connection, Transaction, params};
use std::path::Path;

/// Messages of a session.
const SESSION: u32 = 500;
/// The session that is loaded whole.
pub(super) const LONG: &str = "long";
pub(super) const LONG_MESSAGES: u32 = 5_000;
const VOCABULARY: usize = 40_000;

/// Terms that are inserted so that the same messages can be found in several ways: each comes with a pair of
/// Chinese characters, a Chinese term and a term with symbols.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planted {
    pub(super) every: u32,
    pub(super) word: &'static str,
    pub(super) pair: &'static str,
    pub(super) part: &'static str,
    pub(super) signs: &'static str,
}

pub(super) const PLANTED: [Planted; 3] = [
    Planted { every: 5_000, word: "rareword", pair: "蓝鲸", part: "大蓝鲸鱼", signs: "rare-word.rs" },
    Planted { every: 200, word: "someword", pair: "白鹤", part: "小白鹤鸟", signs: "some-word.rs" },
    Planted { every: 10, word: "oftenword", pair: "黄河", part: "长黄河水", signs: "often-word.rs" },
];

pub(super) fn fill(path: &Path, messages: u32) -> Result<()> {
    drop(open_store(path)?);
    let mut db = Connection::open(path)?;
    db.pragma_update(None, "synchronous", "OFF")?;
    // The triggers of the shared schema would index every row by itself.
    db.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    let writing = db.transaction()?;
    insert(&writing, messages)?;
    for table in ["messages_fts", "messages_fts_trigram"] {
        writing
            .execute(&format!("INSERT INTO {table} (rowid, content) SELECT id, content FROM messages"), [])?;
    }
    writing.commit()?;
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn insert(db: &Transaction<'_>, messages: u32) -> Result<()> {
    let mut random = Random::new(7);
    let mut add_session = db.prepare(
        "INSERT INTO sessions (id, source, model, started_at, message_count) VALUES (?1, 'cli', 'm', ?2, ?3)",
    )?;
    let mut add = db.prepare(
        "INSERT INTO messages (session_id, role, content, timestamp, finish_reason) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    add_session.execute(params![LONG, 0.0, LONG_MESSAGES])?;
    for number in 0..messages {
        let long = number < LONG_MESSAGES;
        let session = if long { LONG.to_owned() } else { format!("s{:06}", number / SESSION) };
        let at = f64::from(number);
        if !long && number % SESSION == 0 {
            add_session.execute(params![session, at, SESSION])?;
        }
        let (role, finish) = if number % 2 == 0 { ("user", None) } else { ("assistant", Some("stop")) };
        add.execute(params![session, role, text(&mut random, number), at, finish])?;
    }
    Ok(())
}

fn text(random: &mut Random, number: u32) -> String {
    let mut words: Vec<String> = (0..12 + random.below(40)).map(|_| word(random)).collect();
    if random.chance(0.1) {
        words.extend((0..4).map(|_| chinese(random)));
    }
    for planted in PLANTED {
        if number % planted.every == 3 {
            let Planted { word, pair, part, signs, .. } = planted;
            words.insert(words.len() / 2, format!("{word} 见{pair}了 {part} src/{signs}:7"));
        }
    }
    words.join(" ")
}

/// A few terms are frequent and most are rare, as in a natural language.
fn word(random: &mut Random) -> String {
    let place = (VOCABULARY as f64).powf(random.fraction()) as usize;
    match place % 17 {
        0 => format!("mod_{place}.rs"),
        1 => format!("fn{place}()"),
        _ => spelt(place),
    }
}

/// A number as a pronounceable term.
fn spelt(mut number: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ka", "lo", "mi", "ne", "ra", "sto", "ti", "vu", "we", "za", "ber", "con", "dal", "fer", "gan",
        "hil", "jor", "pel", "qui", "sun",
    ];
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
        if number == 0 {
            return word;
        }
    }
}

fn chinese(random: &mut Random) -> String {
    let character = |random: &mut Random| {
        let place = 2_500_f64.powf(random.fraction()) as u32;
        char::from_u32(0x4e00 + place * 5).unwrap_or('中')
    };
    (0..3 + random.below(8)).map(|_| character(random)).collect()
}
