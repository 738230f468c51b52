//! Commands that would not come back, or would try to outlive their call.
//!
//! This is advice, not a fence: what slips through runs into its timeout and is ended with its
//! whole process group.

/// The reason why `command` should not run in the foreground, if any.
pub(super) fn objection(command: &str) -> Option<String> {
    const ADVICE: &str = "a command in the foreground must end by itself; run it with background=true";
    let trimmed = command.trim_end();
    if trimmed.ends_with('&') && !trimmed.ends_with("&&") && !trimmed.ends_with("\\&") {
        return Some(format!("the command ends with `&`, and {ADVICE}, without the `&`"));
    }
    for words in commands(command) {
        let Some(program) = words.first().map(|word| word.rsplit('/').next().unwrap_or(word)) else {
            continue;
        };
        if matches!(program, "nohup" | "disown" | "setsid") {
            return Some(format!("the command uses `{program}`, and {ADVICE}, without it"));
        }
        let rest: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        if is_endless(program, &rest) {
            return Some(format!(
                "`{}` looks like a server or watcher that does not end, and {ADVICE}",
                words.join(" ")
            ));
        }
    }
    None
}

/// The simple commands of a line, split into arguments, without leading assignments and `sudo`, `env`,
/// `exec`, `time`. Only the first line of a command with a here-document is read: the rest is data.
pub(super) fn commands(command: &str) -> Vec<Vec<String>> {
    let text = match command.split_once('\n') {
        Some((first, _)) if first.contains("<<") => first,
        _ => command,
    };
    pieces(text)
        .into_iter()
        .map(|piece| {
            let words =
                shlex::split(&piece).unwrap_or_else(|| piece.split_whitespace().map(str::to_owned).collect());
            words.into_iter().skip_while(|word| is_prefix(word)).collect()
        })
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect()
}

/// Cuts at separators outside quotes.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote = None;
    let mut escaped = false;
    for character in text.chars() {
        let separates =
            quote.is_none() && !escaped && matches!(character, ';' | '|' | '&' | '\n' | '(' | ')');
        if separates {
            pieces.push(String::new());
            continue;
        }
        match (character, quote) {
            _ if escaped => {}
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            _ => {}
        }
        escaped = character == '\\' && !escaped && quote != Some('\'');
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

fn is_prefix(word: &str) -> bool {
    let assignment = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    assignment || matches!(word, "sudo" | "env" | "exec" | "time" | "{" | "then" | "do" | "else" | "!")
}

fn is_endless(program: &str, rest: &[&str]) -> bool {
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(word));
    let first = |wanted: &[&str]| rest.first().is_some_and(|word| wanted.contains(word));
    if has(&["--help", "--version", "-h", "-V"]) {
        return false;
    }
    match program {
        "npm" | "yarn" | "pnpm" | "bun" => {
            let script = rest.iter().find(|word| **word != "run");
            script.is_some_and(|word| matches!(*word, "dev" | "start" | "serve" | "watch"))
        }
        "npx" | "bunx" => rest.split_first().is_some_and(|(tool, rest)| is_endless(tool, rest)),
        "vite" => rest.is_empty() || first(&["dev", "serve", "preview"]),
        "next" | "nuxt" | "astro" => first(&["dev", "start", "preview"]),
        "ng" | "hugo" | "jekyll" | "mkdocs" => first(&["serve", "server"]),
        "uvicorn" | "gunicorn" | "hypercorn" | "daphne" | "nodemon" | "http-server" | "live-server" => true,
        "flask" => has(&["run"]),
        "rails" => first(&["server", "s"]),
        "php" => has(&["-S"]),
        "webpack" | "tsc" | "jest" | "vitest" => has(&["--watch", "-w", "serve", "watch"]),
        "python" | "python3" => {
            has(&["http.server", "runserver"]) || has(&["uvicorn", "gunicorn"]) && has(&["-m"])
        }
        "docker-compose" => first(&["up"]) && !has(&["-d", "--detach"]),
        "docker" => first(&["compose"]) && has(&["up"]) && !has(&["-d", "--detach"]),
        "cargo" => first(&["watch"]),
        "watch" => true,
        "tail" => has(&["-f", "-F", "--follow"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_and_escaping_commands_are_objected_to() {
        for (command, objected) in [
            ("ls -la", false),
            ("make && make test", false),
            ("nohup ./run.sh", true),
            ("cd x && setsid foo", true),
            ("sleep 5 & disown", true),
            ("sleep 100 &", true),
            ("echo a &&", false),
            ("echo 'nohup x'", false),
            ("grep nohup file", false),
            ("npm run dev", true),
            ("npm run build", false),
            ("npm install", false),
            ("PORT=1 npm start", true),
            ("npx vite", true),
            ("vite build", false),
            ("uvicorn app:app", true),
            ("uvicorn --version", false),
            ("python -m http.server 8000", true),
            ("python3 manage.py runserver", true),
            ("python script.py", false),
            ("docker compose up", true),
            ("docker compose up -d", false),
            ("tail -f log", true),
            ("tail -n 5 log", false),
            ("cat > x <<'E'\nnpm run dev\nE", false),
        ] {
            assert_eq!(objection(command).is_some(), objected, "{command}");
        }
    }
}
