//! Asks the store for a great many strange things; none may be an error.

use crate::flags::Flags;
use crate::random::{self, Random};
use anyhow::{Context, Result};
use hermes_conversation::{Content, Message, Opening, SessionId, Transcript, UserMessage};
use hermes_store::{NewSession, SearchFilter, SessionDb, Sort, this_process};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

const SAID: &[&str] = &[
    "the quick brown fox",
    "it's user@example.com",
    "我想学习中文搜索技术",
    "ค้นหาภาษาไทย",
    "C++ and C#",
    "ship 🎉",
    "/usr/lib/x_y-z.so",
    "البحث",
    "SELECT * FROM t WHERE a='1';",
    "안녕하세요",
    "naïve café",
    "a.b foo-bar",
];
/// What means something to one parser or another, and what is easily cut in half.
const PIECES: &[&str] = &[
    "\"",
    "\"\"",
    "'",
    "*",
    "**",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ":",
    "^",
    "+",
    "-",
    "--",
    "~",
    "\\",
    "/",
    "%",
    "_",
    ";",
    ",",
    ".",
    "..",
    "|",
    "&",
    "$",
    "#",
    "@",
    "!",
    "?",
    "=",
    "<",
    ">",
    "`",
    " ",
    "  ",
    "\t",
    "\n",
    "\0",
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR(",
    "and",
    "or",
    "not",
    "NULL",
    "content",
    "rowid",
    "rank",
    "messages_fts",
    "a",
    "fox",
    "é",
    "e\u{301}",
    "ß",
    "İ",
    "中",
    "文",
    "中文",
    "字典学",
    "ไ",
    "ภาษา",
    "ع",
    "🎉",
    "❤\u{fe0f}",
    "👨‍👩‍👧",
    "\u{200b}",
    "\u{202e}",
    "\u{feff}",
    "\u{10ffff}",
    "\u{e000}",
    "\u{fffd}",
    "0",
    "1e9",
    "0x",
    "'; DROP TABLE messages; --",
    "NOT NOT",
    "OR OR",
];

pub(crate) fn run(mut flags: Flags) -> Result<ExitCode> {
    let count: u64 = flags.value("--count")?.unwrap_or(1_000_000);
    let seed: u64 = flags.value("--seed")?.unwrap_or_else(random::seed);
    flags.finish()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(ask(count, seed))
}

async fn ask(count: u64, seed: u64) -> Result<ExitCode> {
    let home = tempfile::tempdir()?;
    let store = SessionDb::open(&home.path().join("state.db"), Arc::new(|| 1.0))?;
    fill(&store).await?;
    let mut random = Random::new(seed);
    let start = Instant::now();
    let (mut found, mut errors) = (0_u64, 0_u64);
    for number in 1..=count {
        let query = query(&mut random);
        let filter = filter(&mut random);
        match store.search_with(&query, filter).await {
            Ok(report) => found += u64::from(!report.hits.is_empty()),
            Err(error) => {
                errors += 1;
                crate::say(&format!("{query:?}: {error}\n"))?;
            }
        }
        if number % 50_000 == 0 {
            writeln!(std::io::stderr(), "{number} of {count}")?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    crate::say(&format!(
        "{count} queries, seed {seed}: {errors} errors, {found} found something, {seconds:.0} s\n"
    ))?;
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn fill(store: &SessionDb) -> Result<()> {
    let new = NewSession {
        id: SessionId::new("s"),
        source: "soak".into(),
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        system_prompt: String::new(),
        cwd: None,
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    };
    let lease = store.acquire(new, this_process()).await?.lease;
    let opening = Opening::from(UserMessage { content: Content::text("begin"), api_content: None });
    let turn = store.open_turn(&lease, opening).await?;
    for text in SAID {
        store.extend(&lease, &turn, &[Message::user(*text)], None).await.context(*text)?;
    }
    Ok(())
}

fn query(random: &mut Random) -> String {
    let length = match random.below(100) {
        0 => random.below(3_000),
        1..20 => random.below(60),
        _ => random.below(8),
    };
    (0..length).map(|_| piece(random)).collect()
}

fn piece(random: &mut Random) -> String {
    match random.below(8) {
        0 => char::from_u32(random.below(0x11_0000) as u32).map_or_else(String::new, String::from),
        1 => char::from_u32(random.below(0x80) as u32).map_or_else(String::new, String::from),
        2 => {
            let words: Vec<_> = SAID[random.below(SAID.len())].split(' ').collect();
            words[random.below(words.len())].to_owned()
        }
        3 => " ".to_owned(),
        _ => PIECES[random.below(PIECES.len())].to_owned(),
    }
}

fn filter(random: &mut Random) -> SearchFilter {
    let sort = [Sort::Rank, Sort::Rank, Sort::Newest, Sort::Oldest][random.below(4)];
    let role = random.chance(0.1).then(|| "user".to_owned());
    SearchFilter { limit: 5, sort, role, with_context: random.chance(0.1), ..SearchFilter::default() }
}
