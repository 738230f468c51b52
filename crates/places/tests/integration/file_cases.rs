//! Cases of the file tools, which have the same results at every place.

/// A setup, calls of tools, and a look at what is there afterwards. `ROOT` is the directory of the case.
pub(crate) struct FileCase {
    pub(crate) name: &'static str,
    pub(crate) setup: &'static str,
    pub(crate) calls: &'static [(&'static str, &'static str)],
    /// A script; without one, nothing was to be changed.
    pub(crate) look: &'static str,
    /// A text that the last result has, so that a case cannot pass by failing everywhere.
    pub(crate) has: &'static str,
}

const READ: &str = "read_file";
const WRITE: &str = "write_file";
const PATCH: &str = "patch";
const FIND: &str = "search_files";

macro_rules! cases {
    ($($name:literal: $setup:expr, [$(($tool:expr, $arguments:expr)),*], $look:expr, $has:expr;)*) => {
        pub(crate) const CASES: &[FileCase] = &[$(FileCase {
            name: $name, setup: $setup, calls: &[$(($tool, $arguments)),*], look: $look, has: $has,
        }),*];
    };
}

cases! {
    "new file in new directories": "",
        [(WRITE, r#"{"path":"a/b/c.txt","content":"中\n"}"#)],
        "cat a/b/c.txt; ls -A a/b", r#""dirs_created":true"#;
    "replaced file keeps its mode": "printf old >run.sh; chmod 751 run.sh",
        [(WRITE, r#"{"path":"run.sh","content":"new"}"#)],
        "cat run.sh; stat -c %a run.sh; ls -A", r#""bytes_written":3"#;
    "line ends and mark are kept": r"printf '\357\273\277a\r\nb\r\n' >dos.txt",
        [(WRITE, r#"{"path":"dos.txt","content":"c\nd\n"}"#)],
        "od -An -tx1 dos.txt", r#""bytes_written":9"#;
    "content that does not parse": "",
        [(WRITE, r#"{"path":"a.json","content":"{"}"#), (WRITE, r#"{"path":"a.toml","content":"a ="}"#)],
        "ls -A", "not valid TOML";
    "content with line numbers": "",
        [(WRITE, r#"{"path":"a","content":"1|a\n2|b\n"}"#)], "ls -A", "line numbers";
    "empty content": "echo x >a",
        [(WRITE, r#"{"path":"a","content":""}"#), (READ, r#"{"path":"a"}"#)], "wc -c <a", r#""total_lines":0"#;
    "whole file": r"printf 'a\nb\nc\n' >f",
        [(READ, r#"{"path":"f"}"#)], "", r#""content":"1|a\n2|b\n3|c""#;
    "absolute path": "echo a >f", [(READ, r#"{"path":"ROOT/f"}"#)], "", "1|a";
    "window of a file": "seq 1 100 >f",
        [(READ, r#"{"path":"f","offset":10,"limit":3}"#)], "", r#""next_offset":13"#;
    "window beyond the end": "seq 1 5 >f",
        [(READ, r#"{"path":"f","offset":9}"#)], "", "has only 5 lines";
    "last line without an end": r"printf 'a\nb' >f",
        [(READ, r#"{"path":"f"}"#), (READ, r#"{"path":"f","offset":2,"limit":1}"#)], "", r#""total_lines":2"#;
    "line ends and mark are not shown": r"printf '\357\273\277a\r\nb\r\n' >f",
        [(READ, r#"{"path":"f"}"#)], "", r#""content":"1|a\n2|b""#;
    "bytes that are no text": r"printf 'a\377b\n' >f", [(READ, r#"{"path":"f"}"#)], "", "a\u{fffd}b";
    "binary file": r"printf 'a\000b\n' >f", [(READ, r#"{"path":"f"}"#)], "", "binary";
    "image": r"printf '\211PNG\000' >a.png", [(READ, r#"{"path":"a.png"}"#)], "", "is an image";
    "long line": "head -c 9000 /dev/zero | tr '\\0' x >f; printf '\\nend\\n' >>f",
        [(READ, r#"{"path":"f"}"#)], "", "line cut";
    "more characters than fit": "i=0; while [ $i -lt 200 ]; do head -c 1500 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done >f",
        [(READ, r#"{"path":"f"}"#)], "", r#""truncated_by":"characters""#;
    "blank lines": r"printf '\n\n' >f", [(READ, r#"{"path":"f"}"#)], "", r#""total_lines":2"#;
    "sparse file": "truncate -s 1G f", [(READ, r#"{"path":"f"}"#)], "", "1073741824 bytes";
    "end of a long text": "seq 1 400000 >f",
        [(READ, r#"{"path":"f","offset":399999}"#)], "", "400000|400000";
    "missing file": "touch readme.md reader.md",
        [(READ, r#"{"path":"readme.txt"}"#)], "", "similar_files";
    "directory instead of a file": "mkdir d",
        [(READ, r#"{"path":"d"}"#), (PATCH, r#"{"mode":"replace","path":"d","old_string":"a","new_string":"b"}"#)],
        "ls -A", "not a regular file";
    "pipe instead of a file": "mkfifo p", [(READ, r#"{"path":"p"}"#)], "", "named pipe";
    "page is given once": "echo a >f",
        [(READ, r#"{"path":"f"}"#), (READ, r#"{"path":"f"}"#), (READ, r#"{"path":"f"}"#)], "", "read repeatedly";
    "changed page is given again": "echo a >f",
        [(READ, r#"{"path":"f"}"#), ("terminal", r#"{"command":"echo bb >f"}"#), (READ, r#"{"path":"f"}"#)],
        "", "1|bb";
    "written page is given again": "echo a >f",
        [(READ, r#"{"path":"f"}"#), (WRITE, r#"{"path":"f","content":"b\n"}"#), (READ, r#"{"path":"f"}"#)],
        "cat f", "1|b";
    "writer hears that the file changed": "echo a >f",
        [(READ, r#"{"path":"f"}"#), ("terminal", r#"{"command":"echo bb >f"}"#),
         (WRITE, r#"{"path":"f","content":"c\n"}"#)], "cat f", "changed since you last read";
    "writer hears that a part was read": "seq 1 9 >f",
        [(READ, r#"{"path":"f","limit":2}"#), (WRITE, r#"{"path":"f","content":"c\n"}"#)], "cat f", "only part";
    "notebook": r#"printf '{"cells":[{"cell_type":"code","source":["x = 1"],"outputs":[]}],"nbformat":4,"metadata":{}}' >n.ipynb"#,
        [(READ, r#"{"path":"n.ipynb"}"#)], "", r#""converted_from":"notebook""#;
    "broken document": "echo x >a.docx", [(READ, r#"{"path":"a.docx"}"#)], "", "cannot be read as a Word document";
    "edit": r"printf 'a\nb\nc\n' >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"b","new_string":"B"}"#)], "cat f", r#""success":true"#;
    "edit that is remembered almost": r"printf 'if x:\n    y = 1\n' >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"if x:\n  y = 1","new_string":"if x:\n  y = 2"}"#)],
        "cat f", r#""strategy""#;
    "edit that does not fit": r"printf 'alpha\nbeta\n' >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"alpha beta gamma","new_string":"x"}"#)],
        "cat f", "was not changed";
    "edit that fits twice": r"printf 'a\na\n' >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"a","new_string":"b"}"#),
         (PATCH, r#"{"mode":"replace","path":"f","old_string":"a","new_string":"b","replace_all":true}"#)],
        "cat f", r#""replacements":2"#;
    "edit of a missing file": "",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"a","new_string":"b"}"#)], "ls -A", "use write_file";
    "edit of a binary file": r"printf 'a\000\377' >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"a","new_string":"b"}"#)], "od -An -tx1 f", "not a text";
    "edit keeps line ends": r"printf 'a\r\nb\r\n' >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"a\nb","new_string":"c\nd"}"#)],
        "od -An -tx1 f", r#""success":true"#;
    "failed edits lead to advice": "echo a >f",
        [(PATCH, r#"{"mode":"replace","path":"f","old_string":"x","new_string":"b"}"#),
         (PATCH, r#"{"mode":"replace","path":"f","old_string":"x","new_string":"b"}"#),
         (PATCH, r#"{"mode":"replace","path":"f","old_string":"x","new_string":"b"}"#)], "cat f", "advice";
    "patch of several files": r"printf 'a\nb\n' >u; echo d >d; echo m >m",
        [(PATCH, r#"{"mode":"patch","patch":"*** Begin Patch\n*** Update File: u\n@@\n-a\n+A\n*** Add File: n/x\n+new\n*** Delete File: d\n*** Move File: m -> n/m2\n*** End Patch"}"#)],
        "for f in u n/x n/m2; do echo $f; cat $f; done; ls -A . n", r#""files_deleted":["ROOT/d"]"#;
    "patch of which a part does not work": r"printf 'a\n' >u; echo t >t",
        [(PATCH, r#"{"mode":"patch","patch":"*** Begin Patch\n*** Update File: u\n@@\n-a\n+A\n*** Add File: t\n+x\n*** End Patch"}"#)],
        "cat u t", "exists already";
    "move to a path that is taken": "echo a >a; echo b >b",
        [(PATCH, r#"{"mode":"patch","patch":"*** Begin Patch\n*** Move File: a -> b\n*** End Patch"}"#)],
        "cat a b", "exists already";
    "few matches": "mkdir s; printf 'fn alpha() {}\\nfn b() {}\\n' >s/a.rs; echo 'x alpha' >n.md",
        [(FIND, r#"{"pattern":"alpha"}"#)], "", r#""total_count":2"#;
    "many matches": "seq 1 30 >f", [(FIND, r#"{"pattern":"1"}"#)], "", "matches_text";
    "matches with their surroundings": "seq 1 30 >f; seq 40 50 >g",
        [(FIND, r#"{"pattern":"^(5|7|20|44)$","context":1}"#)], "", "--";
    "matches in pages": "seq 1 30 >f; seq 1 30 >g",
        [(FIND, r#"{"pattern":"1","limit":3,"offset":12,"context":1}"#)], "", "offset=15";
    "matches in files of a glob": "mkdir s; echo alpha >s/a.rs; echo alpha >s/a.md",
        [(FIND, r#"{"pattern":"alpha","file_glob":"*.rs"}"#), (FIND, r#"{"pattern":"alpha","file_glob":"!*.rs"}"#)],
        "", "a.md";
    "names of files with matches": "echo a >f; echo a >g; echo b >h",
        [(FIND, r#"{"pattern":"a","output_mode":"files_only"}"#)], "", r#"["f","g"]"#;
    "counts of matches": r"printf 'a\na\n' >f; echo a >g",
        [(FIND, r#"{"pattern":"a","output_mode":"count"}"#)], "", r#""total_files":2"#;
    "classes and groups of patterns": r"printf 'id = 42\nfoo_bar.baz\n\tTab\nMiXed\n' >f",
        [(FIND, r#"{"pattern":"\\w+\\s*=\\s*\\d{2}"}"#), (FIND, r#"{"pattern":"[\\w.]+\\.(?:baz|qux)$"}"#),
         (FIND, r#"{"pattern":"(?i)mixed"}"#)], "", "MiXed";
    "pattern that is not valid": "echo a >f", [(FIND, r#"{"pattern":"a("}"#)], "", "not a valid regular expression";
    "no matches": "echo a >f", [(FIND, r#"{"pattern":"zzz"}"#)], "", r#""total_count":0"#;
    "files by name": "mkdir s; touch -d '2020-01-02 00:00:00' s/b.rs; touch -d '2020-01-03 00:00:00' a.rs; touch x.md",
        [(FIND, r#"{"pattern":"*.rs","target":"files"}"#), (FIND, r#"{"pattern":"s","target":"files","limit":1}"#)],
        "", r#""total_count":2"#;
    "hidden files are not searched": "mkdir .h .git; echo alpha >.h/a; echo alpha >.git/a; echo alpha >.x; echo alpha >y",
        [(FIND, r#"{"pattern":"alpha","output_mode":"files_only"}"#), (FIND, r#"{"pattern":"*","target":"files"}"#)],
        "", r#"["y"]"#;
    "hidden directory that is named": "mkdir .h; echo alpha >.h/a",
        [(FIND, r#"{"pattern":"alpha","path":".h"}"#)], "", r#""total_count":1"#;
    "binary files are not searched": r"printf 'alpha\000\n' >b; echo alpha >t",
        [(FIND, r#"{"pattern":"alpha"}"#)], "", r#""total_count":1"#;
    "search in one file": "echo alpha >f; echo alpha >g", [(FIND, r#"{"pattern":"alpha","path":"f"}"#)], "", r#""total_count":1"#;
    "search where there is nothing": "", [(FIND, r#"{"pattern":"a","path":"none"}"#)], "", "does not exist";
    "long lines of matches": "head -c 3000 /dev/zero | tr '\\0' a >f; echo b >>f",
        [(FIND, r#"{"pattern":"ab"}"#)], "", r#""total_count":1"#;
    "repeated search": "echo a >f",
        [(FIND, r#"{"pattern":"a"}"#), (FIND, r#"{"pattern":"a"}"#), (FIND, r#"{"pattern":"a"}"#), (FIND, r#"{"pattern":"a"}"#)],
        "", "was repeated";
    "environment of a project": "echo KEY=1 >.env; echo KEY=1 >.env.example; ln -s .env link; echo KEY=1 >x.pem",
        [(READ, r#"{"path":".env"}"#), (READ, r#"{"path":"link"}"#), (READ, r#"{"path":".env.example"}"#),
         (PATCH, r#"{"mode":"replace","path":"link","old_string":"1","new_string":"2"}"#)],
        "cat .env", "holds credentials";
    "credentials in a directory that is searched": "mkdir -p .aws; echo KEY=1 >.aws/credentials; echo KEY=1 >.netrc",
        [(FIND, r#"{"pattern":"KEY","path":".aws"}"#), (FIND, r#"{"pattern":"KEY","path":".netrc"}"#)], "", "";
    "keys of the user": "",
        [(READ, r#"{"path":"~/.ssh/id_rsa"}"#), (WRITE, r#"{"path":"~/.ssh/authorized_keys","content":"x"}"#)],
        "", "not written";
    "processes and devices": "",
        [(READ, r#"{"path":"/proc/1/environ"}"#), (READ, r#"{"path":"/dev/zero"}"#),
         (READ, r#"{"path":"/etc/shadow"}"#)], "", "not shown";
    "files of the system": "", [(WRITE, r#"{"path":"/etc/hermes-test","content":"x"}"#)], "ls /etc/hermes-test 2>&1 | wc -l", "belongs to the system";
    "links are followed": "mkdir real; ln -s real link; echo a >real/f; ln -s real/new dangling",
        [(READ, r#"{"path":"link/f"}"#), (WRITE, r#"{"path":"link/f","content":"b\n"}"#),
         (WRITE, r#"{"path":"dangling","content":"n\n"}"#)],
        "cat real/f real/new; ls -A real; readlink link; readlink dangling", "ROOT/real/new";
    "names that are no options": "",
        [(WRITE, r#"{"path":"-rf","content":"dash\n"}"#), (READ, r#"{"path":"-rf"}"#), (FIND, r#"{"pattern":"dash"}"#),
         (FIND, r#"{"pattern":"-rf","target":"files"}"#), (FIND, r#"{"pattern":"--help"}"#)],
        "cat ./-rf", r#""total_count":0"#;
    "names that a shell would read": "",
        [(WRITE, r#"{"path":"$(touch evil)/`x` \"q\" 'p'","content":"odd\n"}"#),
         (READ, r#"{"path":"$(touch evil)/`x` \"q\" 'p'"}"#), (FIND, r#"{"pattern":"odd"}"#),
         (FIND, r#"{"pattern":"*q*","target":"files"}"#)],
        "ls -A", r#""total_count":1"#;
    "name with a newline": "",
        [(WRITE, r#"{"path":"a\nb/c\nd","content":"odd\n"}"#), (READ, r#"{"path":"a\nb/c\nd"}"#),
         (PATCH, r#"{"mode":"replace","path":"a\nb/c\nd","old_string":"odd","new_string":"even"}"#),
         (FIND, r#"{"pattern":"even","path":"a\nb/c\nd","output_mode":"count"}"#)],
        "cat a*/*", "";
    "names in other scripts": "",
        [(WRITE, r#"{"path":"é/中 文.txt","content":"ß\n"}"#), (READ, r#"{"path":"é/中 文.txt"}"#), (FIND, r#"{"pattern":"ß"}"#)],
        "cat é/*", "中 文.txt";
    "variable as a directory": "", [(WRITE, r#"{"path":"$PROJECT/a","content":"x"}"#), (WRITE, r#"{"path":"~nosuchuser/a","content":"x"}"#)],
        "ls -A", "not replaced here";
    "dots in paths": "mkdir -p a/b; echo x >f", [(READ, r#"{"path":"a/b/../../f"}"#), (READ, r#"{"path":"./f"}"#)], "", "";
    "file in the place of a directory": "echo x >f", [(WRITE, r#"{"path":"f/a","content":"x"}"#)], "cat f", "Not a directory";
    "large file": "",
        [(WRITE, "LARGE"), (READ, r#"{"path":"large","offset":20000,"limit":1}"#),
         (PATCH, r#"{"mode":"replace","path":"large","old_string":"line 19999 of","new_string":"row 19999 of"}"#)],
        "wc -c <large; sed -n 20000p large; sha256sum <large", r#""replacements":1"#;
}
