use crate::testing::Bench;
use serde_json::json;

#[tokio::test]
async fn files_are_made_and_replaced() {
    let bench = Bench::new();
    let path = bench.path("new/dir/a.txt");
    let made = bench.call("write_file", json!({"path": "new/dir/a.txt", "content": "中\n"})).await;
    assert_eq!(
        made,
        json!({"bytes_written": 4, "dirs_created": true, "resolved_path": path, "files_modified": [path]})
    );
    bench.call("write_file", json!({"path": path, "content": "x"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
}

#[tokio::test]
async fn line_ends_mark_and_links_are_kept() {
    let bench = Bench::new();
    let path = bench.write("dos.txt", "\u{feff}a\r\nb\r\n");
    std::os::unix::fs::symlink("dos.txt", bench.path("link")).unwrap();
    bench.call("write_file", json!({"path": "link", "content": "c\nd\n"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "\u{feff}c\r\nd\r\n");
    assert!(bench.path("link").is_symlink());
}

#[tokio::test]
async fn broken_content_and_protected_places_are_not_written() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(bench.root().join("user"), bench.path("alias")).unwrap();
    for (path, content, part) in [
        ("a.json", "{\"a\":", "not valid JSON"),
        ("a.yaml", "a: [1", "not valid YAML"),
        ("~/.ssh/authorized_keys", "x", "keys"),
        ("alias/.ssh/config", "x", "keys"),
        ("/etc/passwd", "x", "system"),
    ] {
        let result = bench.call("write_file", json!({"path": path, "content": content})).await;
        assert!(result["error"].as_str().unwrap().contains(part), "{path}: {result}");
    }
    let config = bench.root().join("home/config.yaml");
    let result = bench.call("write_file", json!({"path": config, "content": "a: 1"})).await;
    assert!(result["error"].as_str().unwrap().contains("Hermes itself"), "{result}");
    assert!(!config.exists() && !bench.path("a.json").exists());
}

#[tokio::test]
async fn a_writer_hears_what_it_has_not_seen() {
    let bench = Bench::new();
    bench.write("a.txt", "1\n2\n3\n");
    bench.call("read_file", json!({"path": "a.txt", "limit": 1})).await;
    let partly = bench.call("write_file", json!({"path": "a.txt", "content": "new\n"})).await;
    assert!(partly["_warning"].as_str().unwrap().contains("only part"));
    let own = bench.call("write_file", json!({"path": "a.txt", "content": "newer\n"})).await;
    assert_eq!(own.get("_warning"), None);
    std::fs::write(bench.path("a.txt"), "someone else\n").unwrap();
    let stale = bench.call("write_file", json!({"path": "a.txt", "content": "newest\n"})).await;
    assert!(stale["_warning"].as_str().unwrap().contains("changed since"));
}

#[tokio::test]
async fn a_secret_is_not_replaced_by_its_mark() {
    let bench = Bench::new();
    let text = "token = sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD\n";
    bench.write("a.txt", text);
    let result = bench.call("write_file", json!({"path": "a.txt", "content": "token = [redacted]\n"})).await;
    assert!(result["error"].as_str().unwrap().contains("secret"), "{result}");
    assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), text);
}
