//! Recognising commands that only look.
//!
//! The list is short and the test is strict on purpose: a command with anything a shell would
//! interpret is not simple, and an option that can write makes a command not read-only.

/// Characters with a meaning to a shell beyond arguments and quotes.
const META: &str = ";|&<>$`(){}*?~!#[]\n\r\\";

const READERS: [&str; 20] = [
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "sleep", "date", "whoami", "uname", "which", "stat",
    "file", "true", "false", "grep", "egrep", "fgrep", "rg",
];

const GIT_READERS: [&str; 5] = ["status", "log", "diff", "show", "branch"];

/// Returns true if `command` is one simple command that changes nothing.
pub(crate) fn is_read_only(command: &str) -> bool {
    if command.contains(|character| META.contains(character)) {
        return false;
    }
    let Some(words) = shlex::split(command) else {
        return false;
    };
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    match program.as_str() {
        "git" => is_git_reader(arguments),
        // Sets the clock when given a value.
        "date" => arguments.iter().all(|word| word.starts_with('+') || word == "-u"),
        // Runs a program of its caller's choice.
        "rg" => !arguments.iter().any(|word| has_option(word, &["--pre", "--hostname-bin"])),
        // Compiles a magic file next to the one named.
        "file" => !arguments.iter().any(|word| is_short(word, 'C') || has_option(word, &["--compile"])),
        name => READERS.contains(&name),
    }
}

fn is_git_reader(arguments: &[String]) -> bool {
    let Some((verb, rest)) = arguments.split_first() else {
        return false;
    };
    let writes = rest.iter().any(|word| {
        has_option(word, &["--output", "--ext-diff", "--textconv"]) || (verb == "branch" && !is_listing(word))
    });
    GIT_READERS.contains(&verb.as_str()) && !writes
}

/// `git branch NAME` makes a branch, so only plain listing options pass.
fn is_listing(word: &str) -> bool {
    matches!(word, "-a" | "-r" | "-v" | "-vv" | "--all" | "--list" | "--show-current" | "--remotes")
}

fn has_option(word: &str, options: &[&str]) -> bool {
    // Long options may be shortened, so any beginning of one counts.
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 2 && name.starts_with("--") && options.iter().any(|option| option.starts_with(name))
}

fn is_short(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_looking_counts() {
        for (command, want) in [
            ("ls -la /tmp", true),
            ("cat 'a file'", true),
            ("git status --short", true),
            ("git log --oneline -5", true),
            ("git branch -a", true),
            ("grep -rn pattern src", true),
            ("rg --files", true),
            ("sleep 1", true),
            ("date +%s", true),
            ("", false),
            ("ls; rm x", false),
            ("cat a > b", false),
            ("ls $HOME", false),
            ("ls *", false),
            ("echo `id`", false),
            ("cat 'unclosed", false),
            ("X=1 ls", false),
            ("/bin/ls", false),
            ("git branch new", false),
            ("git branch -D old", false),
            ("git log --output=x", false),
            ("git diff --outp x", false),
            ("git diff --ext-diff", false),
            ("git -C x status", false),
            ("git commit", false),
            ("rg --pre cat x", false),
            ("date -s 2020-01-01", false),
            ("file -C -m x", false),
            ("rm x", false),
            ("ls\nrm x", false),
        ] {
            assert_eq!(is_read_only(command), want, "{command}");
        }
    }
}
