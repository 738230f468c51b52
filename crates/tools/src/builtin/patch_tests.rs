use crate::testing::Bench;
use serde_json::json;

#[tokio::test]
async fn a_change_is_made_and_shown() {
    let bench = Bench::new();
    let path = bench.write("a.rs", "fn a() {\r\n    b();\r\n}\r\n");
    let arguments = json!({"path": "a.rs", "old_string": "b();", "new_string": "c();\n    d();"});
    let result = bench.call("patch", arguments).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "fn a() {\r\n    c();\r\n    d();\r\n}\r\n");
    assert_eq!((&result["success"], result.get("strategy")), (&json!(true), None));
    let shown = path.display();
    assert_eq!(
        result["diff"],
        format!(
            "--- a{shown}\n+++ b{shown}\n@@ -1,3 +1,4 @@\n fn a() {{\n-    b();\n+    c();\n+    d();\n }}\n"
        )
    );
}

#[tokio::test]
async fn a_near_miss_is_found_and_named() {
    let bench = Bench::new();
    bench.write("a.txt", "  x = 1\n  y = 2\n");
    let result =
        bench.call("patch", json!({"path": "a.txt", "old_string": "x = 1\ny = 2", "new_string": "z"})).await;
    assert_eq!(result["strategy"], "line_trimmed");
    assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), "  z\n");
}

#[tokio::test]
async fn a_change_that_cannot_be_made_is_explained() {
    let bench = Bench::new();
    bench.write("a.txt", "let beta = 2;\nlet gamma = 3;\nx x\n");
    bench.write("a.json", "{\"a\": 1}");
    for (path, old, part) in [
        ("none.txt", "a", "does not exist"),
        ("a.txt", "", "empty"),
        ("a.txt", "x", "matches 2 places"),
        ("a.txt", "function zeta() { return nothing; }", "not found"),
        ("a.json", "1}", "not valid JSON"),
    ] {
        let result = bench.call("patch", json!({"path": path, "old_string": old, "new_string": "y"})).await;
        assert!(result["error"].as_str().unwrap().contains(part), "{old}: {result}");
    }
    let near = json!({"path": "a.txt", "old_string": "let beta = wrong + 2000;", "new_string": "y"});
    let result = bench.call("patch", near).await;
    assert_eq!(result["did_you_mean"][0], "1|let beta = 2;");
    assert_eq!(std::fs::read_to_string(bench.path("a.json")).unwrap(), "{\"a\": 1}");
}

#[tokio::test]
async fn a_file_that_is_not_read_is_not_patched() {
    let bench = Bench::new();
    bench.write(".env", "FIRST=abc\nPIN=4711\nLAST=xyz\n");
    std::os::unix::fs::symlink(".env", bench.path("settings")).unwrap();
    for (path, old) in [(".env", "PIN="), ("settings", "PIN=4712"), (".env", "FIRST")] {
        let arguments = json!({"path": path, "old_string": old, "new_string": "x"});
        assert_eq!(bench.prepare("patch", &arguments).verdict.decision(), "denied", "{path}");
        let finished = bench.finish("patch", &arguments).await;
        let text = finished.message.content.as_text();
        assert!(text.contains("ask the user") && text.contains("write_file"), "{text}");
        assert!(!text.contains("4711") && !text.contains("abc"), "{text}");
    }
    assert_eq!(std::fs::read_to_string(bench.path(".env")).unwrap(), "FIRST=abc\nPIN=4711\nLAST=xyz\n");
}
