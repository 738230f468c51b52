//! SQL and other commands given to database clients.

use crate::assessment::EffectKind;
use crate::field::{Field, is_known};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "pgcli" | "mycli" | "litecli" | "usql"
        | "duckdb" | "sqlcmd" | "clickhouse-client" | "clickhouse" | "cqlsh" | "cockroach" | "sqlplus"
        | "isql" | "bq" | "snowsql" | "trino" | "turso" => client(walker, call)?,
        "dropdb" | "dropuser" | "mysqladmin" => {
            if call.name != "mysqladmin" || call.arguments.iter().any(|field| field.text == "drop") {
                walker.ask(
                    EffectKind::Delete,
                    None,
                    keys::SQL_DROP,
                    format!("{} deletes a database", call.name),
                );
            }
        }
        "redis-cli" | "valkey-cli" => {
            let is_deleting = call.arguments.iter().any(|field| {
                matches!(
                    field.text.to_ascii_uppercase().as_str(),
                    "FLUSHALL"
                        | "FLUSHDB"
                        | "SHUTDOWN"
                        | "CONFIG"
                        | "EVAL"
                        | "SCRIPT"
                        | "MODULE"
                        | "DEBUG"
                        | "REPLICAOF"
                        | "SLAVEOF"
                )
            });
            if is_deleting
                || matches!(call.stdin, Output::Text(text) if text.to_ascii_uppercase().contains("FLUSH"))
            {
                walker.ask(
                    EffectKind::Delete,
                    None,
                    keys::DATABASE,
                    "deletes the data or changes the server of redis",
                );
            }
        }
        "mongo" | "mongosh" => {
            let texts = call.arguments.iter().map(|field| field.text.as_str()).chain(stdin_text(call.stdin));
            if texts.into_iter().any(|text| {
                ["drop", "deleteMany", "remove(", "deleteOne", "shutdown", "eval(", "load("]
                    .iter()
                    .any(|word| text.contains(word))
            }) {
                walker.ask(EffectKind::Delete, None, keys::DATABASE, "deletes data of mongo");
            }
        }
        "pg_restore" | "mongorestore" | "pg_dropcluster" | "initdb" | "mysql_secure_installation" => {
            walker.ask(EffectKind::Delete, None, keys::DATABASE, format!("{} overwrites data", call.name));
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Unknown))
}

fn stdin_text(stdin: &Output) -> Option<&str> {
    match stdin {
        Output::Text(text) => Some(text),
        _ => None,
    }
}

fn client(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    super::secrets::arguments(walker, call);
    let mut texts: Vec<String> = Vec::new();
    let is_sqlite = call.name.starts_with("sqlite") || matches!(call.name, "duckdb" | "litecli");
    for (index, field) in call.arguments.iter().enumerate() {
        let text = field.text.as_str();
        let attached = ["--command=", "--execute=", "--query=", "-e", "-c"]
            .iter()
            .find_map(|name| text.strip_prefix(name));
        let next = call.arguments.get(index + 1).map(|field| field.text.clone());
        match text {
            "-c" | "--command" | "-e" | "--execute" | "-q" | "--query" | "-Q" | "-cmd" => texts.extend(next),
            _ if text.starts_with('-') => texts.extend(attached.map(str::to_owned)),
            // The operands of sqlite3 are the file and SQL.
            _ if is_sqlite || text.contains(' ') => texts.push(text.to_owned()),
            _ => {}
        }
    }
    if is_sqlite && !texts.is_empty() && !texts.first().is_some_and(|text| text.contains(' ')) {
        let file = texts.remove(0);
        walker.write(&Field::literal(file), super::files::Via::Other);
    }
    match call.stdin {
        Output::Text(text) => texts.push(text.clone()),
        Output::Remote | Output::Decoded(..) => {
            walker.ask(
                EffectKind::Execute,
                None,
                keys::UNKNOWN_PAYLOAD,
                format!("{} runs SQL that is not known", call.name),
            );
        }
        _ => {}
    }
    for text in texts {
        sql(walker, &text)?;
    }
    Ok(())
}

/// Judges SQL and the commands of a client.
pub(super) fn sql(walker: &mut Walker<'_>, text: &str) -> Result<(), Unreadable> {
    if !is_known(text) {
        walker.ask(
            EffectKind::Unclear,
            None,
            keys::UNKNOWN_PAYLOAD,
            "runs SQL that is only known when the command runs",
        );
    }
    for line in text.lines() {
        let trimmed = line.trim();
        let command = [
            "\\!",
            ".shell",
            ".system",
            "system ",
            ".once |",
            ".output |",
            ".excel",
            ".load",
            "\\o |",
            "\\g |",
            ".read |",
            ".import |",
        ]
        .iter()
        .find_map(|sign| trimmed.split_once(sign));
        if let Some((_, command)) = command {
            walker.ask(EffectKind::Execute, None, keys::SQL_OTHER, "a database client runs a program");
            walker.payload(command.trim(), Output::Nothing)?;
        }
    }
    for statement in statements(text) {
        let words: Vec<String> = statement
            .split(|character: char| !(character.is_alphanumeric() || character == '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_uppercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        judge_statement(walker, &words);
    }
    Ok(())
}

fn judge_statement(walker: &mut Walker<'_>, words: &[&str]) {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or_default();
    let pair = |one: &str, two: &[&str]| {
        words.windows(2).any(|pair| matches!(pair, [first, second] if *first == one && two.contains(second)))
    };
    if pair(
        "DROP",
        &[
            "TABLE",
            "DATABASE",
            "SCHEMA",
            "VIEW",
            "INDEX",
            "ROLE",
            "USER",
            "COLUMN",
            "OWNED",
            "TYPE",
            "SEQUENCE",
            "FUNCTION",
            "TRIGGER",
            "KEYSPACE",
            "MATERIALIZED",
            "TABLESPACE",
            "EXTENSION",
        ],
    ) {
        walker.ask(EffectKind::Delete, None, keys::SQL_DROP, "deletes tables or databases");
    }
    if first == "TRUNCATE" || has("TRUNCATE") && !has("SELECT") {
        walker.ask(EffectKind::Delete, None, keys::SQL_TRUNCATE, "deletes all rows of a table");
    }
    if pair("DELETE", &["FROM"]) && !has("WHERE") {
        walker.ask(EffectKind::Delete, None, keys::SQL_DELETE, "deletes all rows of a table");
    }
    let runs_program = has("COPY") && has("PROGRAM")
        || has("OUTFILE")
        || has("DUMPFILE")
        || has("XP_CMDSHELL")
        || has("LOAD_EXTENSION")
        || has("LO_EXPORT")
        || has("PG_READ_FILE")
        || has("WRITEFILE")
        || has("EDIT") && has("SELECT");
    let changes_all = first == "UPDATE" && has("SET") && !has("WHERE");
    let changes_rights = matches!(first, "GRANT" | "REVOKE")
        || first == "ALTER" && (has("USER") || has("ROLE") || has("SYSTEM"));
    if runs_program || changes_all || changes_rights {
        walker.ask(
            EffectKind::Execute,
            None,
            keys::SQL_OTHER,
            "changes all rows or rights, writes files, or runs programs of the database server",
        );
    }
}

/// Statements without comments and strings.
fn statements(text: &str) -> Vec<String> {
    let mut result = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                characters.by_ref().find(|other| *other == '\'');
                push(&mut result, ' ');
            }
            '-' if characters.peek() == Some(&'-') => {
                characters.by_ref().find(|other| *other == '\n');
                push(&mut result, ' ');
            }
            '/' if characters.peek() == Some(&'*') => {
                // The text of `/*! ... */` runs in MySQL, so only the signs are dropped.
                characters.next();
                if characters.peek() != Some(&'!') {
                    let mut last = ' ';
                    characters
                        .by_ref()
                        .find(|other| std::mem::replace(&mut last, *other) == '*' && *other == '/');
                }
                push(&mut result, ' ');
            }
            ';' => result.push(String::new()),
            other => push(&mut result, other),
        }
    }
    result
}

fn push(statements: &mut [String], character: char) {
    if let Some(last) = statements.last_mut() {
        last.push(character);
    }
}
