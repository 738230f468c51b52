//! The scene and the corpus entries that all tests use.

use hermes_gate::Scene;

/// A developer in a project below the home directory, with a sandbox.
pub(crate) fn scene() -> Scene {
    Scene {
        cwd: "/home/dev/work/app".into(),
        project: "/home/dev/work/app".into(),
        temporary: vec!["/tmp/hermes-session".into()],
        user_home: Some("/home/dev".into()),
        hermes_home: "/home/dev/.hermes".into(),
        path_dirs: vec!["/usr/local/bin".into(), "/usr/bin".into(), "/home/dev/.local/bin".into()],
        is_sandboxed: true,
        ..Scene::default()
    }
}

/// The entries of a corpus with their class: one a line, or several lines between `<<<<` and `>>>>`.
pub(crate) fn entries(text: &str) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let mut class = String::new();
    let mut block: Option<Vec<&str>> = None;
    for line in text.lines() {
        match (line, &mut block) {
            ("<<<<", None) => block = Some(Vec::new()),
            (">>>>", Some(lines)) => {
                entries.push((class.clone(), lines.join("\n")));
                block = None;
            }
            (_, Some(lines)) => lines.push(line),
            (_, None) => match line.strip_prefix("## ") {
                Some(name) => class = name.to_owned(),
                None if line.is_empty() => {}
                None => entries.push((class.clone(), line.to_owned())),
            },
        }
    }
    entries
}
