//! Completion of a slash command that is being typed.

use super::{Surfaces, TABLE};

/// The commands that `typed` may become, as whole names with their slash and in the order of [`TABLE`].
///
/// Empty once the name is followed by a space: arguments are not completed. An alias is offered only when no name
/// fits, so that `/e` gives `/exit` and `/r` does not list one command twice.
pub fn completions(typed: &str, surface: Surfaces) -> Vec<String> {
    let Some(start) = typed.strip_prefix('/').map(str::to_ascii_lowercase) else {
        return Vec::new();
    };
    let offered = || TABLE.iter().filter(|command| command.surfaces.include(surface));
    let fits = |name: &&'static str| name.starts_with(&start);
    let names: Vec<_> = offered().map(|command| command.name).filter(fits).collect();
    let found = match names.is_empty() {
        true => offered().flat_map(|command| command.aliases).copied().filter(fits).collect(),
        false => names,
    };
    found.into_iter().map(|name| format!("/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_of_a_name_gives_the_commands_that_fit() {
        let rows: [(&str, &[&str]); 7] = [
            ("/st", &["/stop", "/steer", "/statusbar"]),
            ("/ST", &["/stop", "/steer", "/statusbar"]),
            ("/compr", &["/compress"]),
            ("/exi", &["/exit"]),
            ("/nothing", &[]),
            ("/model gpt", &[]),
            ("st", &[]),
        ];
        for (typed, want) in rows {
            assert_eq!(completions(typed, Surfaces::Terminal), want, "{typed}");
        }
    }

    #[test]
    fn commands_of_the_terminal_are_offered_there_only() {
        assert!(completions("/", Surfaces::All).len() < completions("/", Surfaces::Terminal).len());
        assert_eq!(completions("/quit", Surfaces::All), [""; 0]);
    }
}
