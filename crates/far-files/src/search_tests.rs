use super::*;

#[test]
fn output_of_rg_is_read() {
    let data = b"./a\x001:x\n./a\x002-y\n--\n./b\nc\x007:z\n./bin: WARNING: stopped\n./d\x003\n";
    let hits = rg_lines(data, Path::new("/r"));
    let found: Vec<(&str, u64, &[u8], bool)> = hits
        .iter()
        .map(|hit| (hit.path.to_str().unwrap(), hit.number, hit.text.as_slice(), hit.around))
        .collect();
    assert_eq!(
        found,
        [
            ("/r/a", 1, &b"x"[..], false),
            ("/r/a", 2, b"y", true),
            ("/r/b\nc", 7, b"z", false),
            ("/r/d", 3, b"", false),
        ]
    );
}

#[test]
fn output_of_grep_is_read() {
    let data = b"F./a b\n1:F./x\n2-y\n--\n9:z\nF\n3\n";
    let hits = grep_lines(data, Path::new("/r"));
    let found: Vec<(&str, u64, bool)> =
        hits.iter().map(|hit| (hit.path.to_str().unwrap(), hit.number, hit.around)).collect();
    assert_eq!(found, [("/r/a b", 1, false), ("/r/a b", 2, true), ("/r/a b", 9, false), ("/r", 3, false)]);
}

#[test]
fn names_with_newlines_are_one_file() {
    let data = b"2026-11-19 22:48:10.5 +0000|./a\n2026-11-19 22:48:11 +0000|./b\nc\nd\n";
    let found = entries(data, Path::new("/r"));
    let paths: Vec<&str> = found.iter().map(|(_, path)| path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/r/a", "/r/b\nc\nd"]);
    assert!(found[1].0 > found[0].0);
}

#[test]
fn filter_of_find_leaves_all_that_may_match() {
    for (pattern, want) in
        [("*.rs", "**.rs"), ("alpha", "*alpha*"), ("src/**/a", "*"), ("{a,b}", "*"), ("a?", "*a?")]
    {
        assert_eq!(name_filter(pattern), want, "{pattern}");
    }
}
