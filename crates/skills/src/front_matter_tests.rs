use super::*;

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn all_fields_are_parsed() {
    let text = "---\nname: pdf-tools\ndescription: >\n  Read and\n  write PDFs.\nversion: 1.2\nlicense: MIT\nauthor: Ann\n\
        compatibility: needs qpdf\nplatforms: [Linux, macos]\nenvironments: [docker]\nprerequisites:\n  env_vars: [PDF_KEY]\n  \
        commands: [qpdf]\nrequired_environment_variables:\n  - name: PDF_KEY\n    prompt: the key\n  - OTHER\nmetadata:\n  \
        hermes:\n    tags: [pdf, office]\n    related_skills: [ocr]\n    requires_tools: [terminal]\n    \
        requires_toolsets: [file]\n    fallback_for_tools: [pdf_read]\n    fallback_for_toolsets: web\n    config:\n      \
        - key: pdf.dpi\n        description: resolution\n        default: 300\n---\n\nUse qpdf.\n";
    let want = FrontMatter {
        name: "pdf-tools".into(),
        description: "Read and write PDFs.".into(),
        version: Some("1.2".into()),
        license: Some("MIT".into()),
        author: Some("Ann".into()),
        compatibility: Some("needs qpdf".into()),
        tags: list(&["pdf", "office"]),
        related_skills: list(&["ocr"]),
        env_vars: list(&["PDF_KEY", "OTHER"]),
        commands: list(&["qpdf"]),
        config: vec![ConfigValue {
            key: "pdf.dpi".into(),
            description: "resolution".into(),
            default: Some("300".into()),
        }],
        conditions: Conditions {
            platforms: list(&["linux", "macos"]),
            environments: list(&["docker"]),
            requires_tools: list(&["terminal"]),
            requires_toolsets: list(&["file"]),
            fallback_for_tools: list(&["pdf_read"]),
            fallback_for_toolsets: list(&["web"]),
        },
    };
    assert_eq!(parse(text).unwrap(), want);
    assert_eq!(body(text), "Use qpdf.\n");
    let kept: FrontMatter = serde_json::from_str(&serde_json::to_string(&want).unwrap()).unwrap();
    assert_eq!(kept, want, "the cache keeps all fields");
}

#[test]
fn lenient_front_matter_is_parsed() {
    for (head, name, description) in [
        ("name: a\ndescription: b", "a", "b"),
        ("name: a\r\ndescription: b\r", "a", "b"),
        ("name: a\ndescription: Use when: something breaks", "a", "Use when: something breaks"),
        ("name: 'a'\ndescription: \"b: c\"\nunknown: {x: 1}", "a", "b: c"),
        ("name: 7zip\ndescription: |\n  two\n  lines", "7zip", "two lines"),
    ] {
        let front_matter = parse(&format!("---\n{head}\n---\nbody")).unwrap();
        assert_eq!(
            (front_matter.name.as_str(), front_matter.description.as_str()),
            (name, description),
            "{head}"
        );
    }
}

#[test]
fn error_names_the_invalid_part() {
    let long = "x".repeat(MAX_DESCRIPTION + 1);
    let big = format!("---\nname: a\ndescription: b\n---\n{}", "y".repeat(MAX_SKILL_CHARS));
    for (text, want) in [
        ("# no head", "no frontmatter at the beginning"),
        ("---\nname: a\n", "unterminated"),
        ("---\nname: a\ndescription: b\n---\n \n", "no instructions after"),
        ("---\ndescription: b\n---\nx", "`name` is missing"),
        ("---\nname: a\n---\nx", "`description` is missing"),
        ("---\nname: A b\ndescription: b\n---\nx", "invalid skill name"),
        ("---\nname: ../up\ndescription: b\n---\nx", "invalid skill name"),
        ("---\nname: [1\n---\nx", "invalid YAML"),
        ("---\n- a\n---\nx", "no fields"),
        (&format!("---\nname: {}\ndescription: b\n---\nx", "n".repeat(65)), "the limit is 64"),
        (&format!("---\nname: a\ndescription: {long}\n---\nx"), "the limit is 1024"),
        (&big, "the limit is 100000"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(want), "{want}: {error}");
    }
}
