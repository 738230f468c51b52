use super::*;
use std::path::Path;

#[test]
fn tilde_expands_to_the_home_of_the_user() {
    for (word, home, want) in [
        ("~/x y", Some("/home/a"), "/home/a/x y"),
        ("~", Some("/home/a"), "/home/a"),
        ("~bob/x", Some("/home/a"), "~bob/x"),
        ("a~/x", Some("/home/a"), "a~/x"),
        ("~/x", None, "~/x"),
    ] {
        let mut word = word.to_owned();
        expand_home(&mut word, home.map(Path::new));
        assert_eq!(word, want);
    }
}
