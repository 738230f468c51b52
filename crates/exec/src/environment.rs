//! The environment of child processes.
//!
//! An allow list: unknown keys and loader variables stay out by default.

const NAMES: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TERM", "TZ", "SHELL", "TMPDIR"];
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// The variables of `parent` that a child gets: allowed names, and those in `passthrough`.
pub fn child_env(
    parent: impl Iterator<Item = (String, String)>,
    passthrough: &[String],
) -> Vec<(String, String)> {
    parent.filter(|(name, _)| is_harmless(name) || passthrough.contains(name)).collect()
}

fn is_harmless(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_reach_a_child() {
        for (name, passes) in [
            ("PATH", true),
            ("LC_ALL", true),
            ("XDG_RUNTIME_DIR", true),
            ("MY_TOOL_HOME", true),
            ("OPENAI_API_KEY", false),
            ("LD_PRELOAD", false),
            ("BASH_ENV", false),
            ("PATHX", false),
        ] {
            let parent = [(name.to_owned(), "v".to_owned())].into_iter();
            let child = child_env(parent, &["MY_TOOL_HOME".to_owned()]);
            assert_eq!(!child.is_empty(), passes, "{name}");
        }
    }
}
