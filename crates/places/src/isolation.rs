//! The reach of commands at a place.

/// The reach of commands beyond their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    /// Commands cannot change anything that the user has outside.
    Isolated,
    /// Commands reach what is named here.
    Reaches(String),
}

impl Isolation {
    pub fn is_isolated(&self) -> bool {
        *self == Self::Isolated
    }
}

/// Options that a user may add without opening the container: limits of resources.
const HARMLESS: [&str; 9] = [
    "--ulimit",
    "--shm-size",
    "--cpus",
    "--memory",
    "--memory-swap",
    "--pids-limit",
    "--cpu-shares",
    "--stop-timeout",
    "--platform",
];

/// The first option of a list that opens the container, if there is one.
pub(crate) fn opening_option(options: &[String]) -> Option<&str> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match HARMLESS.iter().find(|name| option == *name) {
            // Its value follows.
            Some(_) => drop(rest.next()),
            None if HARMLESS
                .iter()
                .any(|name| option.strip_prefix(name).is_some_and(|end| end.starts_with('='))) => {}
            None => return Some(option),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_keep_a_container_closed() {
        for (options, opening) in [
            (&[][..], None),
            (&["--ulimit", "nofile=1:1", "--shm-size=1g"], None),
            (&["--ulimit", "-v", "--cpus=2"], None),
            (&["-v", "/:/host"], Some("-v")),
            (&["--ulimit", "a", "--privileged"], Some("--privileged")),
            (&["--ulimitx=1"], Some("--ulimitx=1")),
            (&["--pid=host"], Some("--pid=host")),
        ] {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            assert_eq!(opening_option(&options), opening, "{options:?}");
        }
    }
}
