//! Names of variables and files that hold secrets.

const SECRET_WORDS: [&str; 8] =
    ["key", "token", "secret", "passw", "credential", "pwd", "passphrase", "auth"];
/// Endings of variables that name a location and not a secret.
const PLACES: [&str; 7] = ["url", "uri", "host", "endpoint", "file", "path", "port"];

const SECRET_FILES: [&str; 16] = [
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "/etc/shadow",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    "credentials.json",
    ".vault-token",
    ".ssh/config",
];

/// Returns true for a variable with the name of a secret, or a file that holds secrets.
pub(super) fn has_secret(word: &str) -> bool {
    let is_file = |word: &str| {
        let path = word.rsplit(['@', '=', '<', ' ', '(']).next().unwrap_or(word);
        (word.contains('@') || word.contains("-file=") || word.contains("$(")) && is_secret_file(path)
    };
    let is_environment = word.contains("$(env") || word.contains("$(printenv");
    word.split('$').skip(1).any(is_secret_variable) || is_file(word) || is_environment
}

fn is_secret_variable(after_dollar: &str) -> bool {
    let name = after_dollar.trim_start_matches('{');
    let end = name.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(name.len());
    let name = &name[..end];
    SECRET_WORDS.iter().any(|word| name.contains(word)) && !PLACES.iter().any(|place| name.ends_with(place))
}

pub(super) fn is_secret_file(path: &str) -> bool {
    let path = path.trim_end_matches([')', '"', '\'', '.', ',', ';', '`', ':']);
    if path.ends_with(".pub") {
        return false;
    }
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let is_env = last.strip_prefix(".env").is_some_and(|rest| {
        let is_pattern =
            ["example", "sample", "template", "dist", "md", "schema"].iter().any(|end| rest.ends_with(end));
        (rest.is_empty() || rest.starts_with('.')) && !is_pattern
    });
    is_env || SECRET_FILES.iter().any(|file| path.ends_with(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_by_name() {
        for (word, want) in [
            ("k=$api_key", true),
            ("${github_token}", true),
            ("$token_url", false),
            ("$home/key", false),
            ("@.env", true),
            ("@.env.example", false),
            ("--post-file=/home/x/.netrc", true),
            ("$(env)", true),
            (".env", false),
        ] {
            assert_eq!(has_secret(word), want, "{word}");
        }
    }
}
