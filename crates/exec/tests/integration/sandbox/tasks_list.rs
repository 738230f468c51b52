//! Ordinary work that must succeed in the sandbox.

/// A script that ends with exit code 0, and the programs that it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [&'static str],
    pub(crate) script: &'static str,
}

const fn task(name: &'static str, needs: &'static [&'static str], script: &'static str) -> Task {
    Task { name, needs, script }
}

pub(crate) const ALL: &[Task] = &[
    task("git status", &["git"], "git status --short && git log --oneline | grep -q first"),
    task(
        "git commit",
        &["git"],
        "echo x > new && git add new && git commit -qm 'add new' && git log --oneline | grep -q 'add new'",
    ),
    task(
        "git branch and merge",
        &["git"],
        "git checkout -qb b && echo b > b && git add b && git commit -qm b && git checkout -q main && git merge -q --no-ff -m merged b && git branch -d b",
    ),
    task(
        "git rebase",
        &["git"],
        "git checkout -qb r HEAD~1 && echo r > r && git add r && git commit -qm r && git rebase -q main && git log --oneline | grep -q second",
    ),
    task(
        "git stash",
        &["git"],
        "echo changed > file && git stash -q && git stash pop -q && grep -q changed file",
    ),
    task("git tag and describe", &["git"], "git tag -a v1 -m v1 && git describe | grep -q v1"),
    task("git gc", &["git"], "git gc -q && git fsck"),
    task(
        "git reset and restore",
        &["git"],
        "echo x > file && git restore file && git reset -q --hard HEAD~1",
    ),
    task(
        "git clone a folder",
        &["git"],
        "git clone -q $REMOTE copy && cd copy && git log --oneline | grep -q first",
    ),
    task(
        "git clone over loopback",
        &["git"],
        "git clone -q $DAEMON/remote.git copy && cd copy && git log --oneline | grep -q first",
    ),
    task(
        "git fetch and pull over loopback",
        &["git"],
        "git fetch -q $DAEMON/remote.git && git pull -q --no-rebase $DAEMON/remote.git main",
    ),
    task(
        "git push over loopback",
        &["git"],
        "git checkout -qb topic && git commit -q --allow-empty -m pushed && git push -q $DAEMON/remote.git topic && git ls-remote $DAEMON/remote.git | grep -q topic",
    ),
    task(
        "git init a new project",
        &["git"],
        "mkdir sub && cd sub && git init -q && echo x > x && git add x && git commit -qm x && git config user.name other",
    ),
    task(
        "git work in a linked tree",
        &["git"],
        "cd $TREE && git status --short && echo t > t && git add t && git commit -qm tree && git log --oneline | grep -q tree",
    ),
    task(
        "git diff and blame",
        &["git"],
        "echo more >> file && git diff | grep -q more && git blame file | grep -q first",
    ),
    task("git archive", &["git", "tar"], "git archive HEAD | tar t | grep -q file"),
    task(
        "cargo build and test",
        &["cargo", "cc"],
        "cargo init -q --name tiny crate && cd crate && cargo build -q --offline && cargo test -q --offline && ./target/debug/tiny | grep -q Hello",
    ),
    task(
        "rustc",
        &["rustc", "cc"],
        "echo 'fn main() { println!(\"{}\", 6 * 7) }' > a.rs && rustc a.rs && ./a | grep -q 42",
    ),
    task(
        "gcc",
        &["gcc"],
        "printf '#include <stdio.h>\\nint main(void){puts(\"ok\");}' > a.c && gcc -O2 -o a a.c && ./a | grep -q ok",
    ),
    task(
        "make",
        &["make", "gcc"],
        "printf 'a.o: a.c\\n\\tgcc -c a.c\\n' > Makefile && echo 'int a;' > a.c && make -s -j2 && make -q",
    ),
    task(
        "python script",
        &["python3"],
        "python3 -c 'import tempfile, json, ssl, sqlite3; tempfile.NamedTemporaryFile().write(b\"x\")'",
    ),
    task(
        "python virtual environment",
        &["python3 -m ensurepip --version"],
        "python3 -m venv v && v/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'",
    ),
    task("pip install from a folder", &["python3 -m ensurepip --version"], PIP),
    task(
        "pytest",
        &["python3 -m pytest --version"],
        "echo 'def test_a(tmp_path): (tmp_path / \"x\").write_text(\"x\")' > test_a.py && python3 -m pytest -q test_a.py",
    ),
    task(
        "unittest",
        &["python3"],
        "printf 'import unittest\\nclass T(unittest.TestCase):\\n    def test_a(self): self.assertEqual(1, 1)\\n' > test_u.py && python3 -m unittest -q test_u",
    ),
    task(
        "sqlite",
        &["python3"],
        "python3 -c \"import sqlite3; c = sqlite3.connect('a.db'); c.execute('pragma journal_mode=wal'); c.execute('create table t(x)'); c.execute('insert into t values (1)'); c.commit(); assert c.execute('select x from t').fetchone() == (1,)\"",
    ),
    task(
        "python processes",
        &["python3"],
        "printf 'import multiprocessing as m\\ndef f(x): return x * x\\nif __name__ == \"__main__\":\\n    with m.Pool(2) as p: assert p.map(f, range(5)) == [0, 1, 4, 9, 16]\\n    q = m.Queue(); q.put(1); assert q.get() == 1\\n' > p.py && python3 p.py",
    ),
    task(
        "python shared memory",
        &["python3"],
        "python3 -c \"from multiprocessing import shared_memory as s; a = s.SharedMemory(create=True, size=64); a.buf[0] = 1; a.close(); a.unlink()\"",
    ),
    task(
        "python threads",
        &["python3"],
        "python3 -c \"from concurrent.futures import ThreadPoolExecutor as T; assert sum(T(8).map(lambda x: x, range(100))) == 4950\"",
    ),
    task(
        "python local server",
        &["python3"],
        "python3 -c \"import socket, threading; s = socket.create_server(('127.0.0.1', 0)); threading.Thread(target=lambda: s.accept()[0].sendall(b'x')).start(); assert socket.create_connection(s.getsockname()).recv(1) == b'x'\"",
    ),
    task(
        "python unix socket",
        &["python3"],
        "python3 -c \"import socket, os; s = socket.socket(socket.AF_UNIX); s.bind('s'); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect('s'); s.accept()\"",
    ),
    task("python terminal", &["python3"], "python3 -c \"import pty; pty.spawn(['true'])\" < /dev/null"),
    task(
        "node",
        &["node"],
        "node -e \"const fs = require('fs'); fs.writeFileSync('a', 'x'); new (require('worker_threads').Worker)('1', {eval: true}); require('os').cpus()\"",
    ),
    task(
        "npm install from a folder",
        &["npm"],
        "mkdir lib && echo '{\"name\":\"lib\",\"version\":\"1.0.0\",\"main\":\"i.js\"}' > lib/package.json && echo 'module.exports = 42' > lib/i.js && echo '{\"name\":\"app\",\"version\":\"1.0.0\"}' > package.json && npm install --offline --no-audit --no-fund --loglevel=error --cache $TMPDIR/npm ./lib && node -e \"if (require('lib') !== 42) process.exit(1)\"",
    ),
    task(
        "npm run",
        &["npm"],
        "echo '{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"hi\":\"echo hi\"}}' > package.json && npm run -s hi --cache $TMPDIR/npm | grep -q hi",
    ),
    task("perl", &["perl"], "perl -pi -e 's/first/1st/' file && grep -q 1st file"),
    task("tar", &["tar", "gzip"], "tar czf a.tgz file && mkdir x && tar xzf a.tgz -C x && cmp file x/file"),
    task("sed in place", &["sed"], "sed -i s/first/1st/ file && grep -q 1st file"),
    task("find and xargs", &["find"], "find . -name file -print0 | xargs -0 grep -q first"),
    task(
        "read the system",
        &["ls"],
        "cat /etc/passwd /etc/hosts /proc/meminfo /proc/self/status > /dev/null && ls /usr/bin > /dev/null",
    ),
    task("read ordinary files of the home", &["cat"], "cat $HOME/notes && ls $HOME/other"),
    task(
        "temporary files",
        &["mktemp"],
        "f=$(mktemp) && echo x > $f && d=$(mktemp -d) && mv $f $d/ && rm -r $d",
    ),
    task(
        "temporary files in /tmp",
        &["mktemp"],
        "f=$(TMPDIR=/tmp mktemp) && echo x > $f && cat $f && rm $f && echo x > /tmp/hermes-sandbox-$$ && rm /tmp/hermes-sandbox-$$",
    ),
    task("sort with temporary files", &["sort"], "seq 200000 | sort -S 100k -rn | head -1 | grep -q 200000"),
    task("background jobs", &["sleep"], "sleep 0.1 & p=$!; (sleep 5) & kill $! && wait $p"),
    task(
        "pipes and process substitution",
        &["diff"],
        "diff <(seq 3) <(printf '1\\n2\\n3\\n') && seq 10 | tee all | tail -1 | grep -q 10",
    ),
    task("here documents", &["cat"], "cat <<EOF > a\n$HOME\nEOF\ngrep -q home a && cat <<< x > /dev/null"),
    task(
        "devices",
        &["head"],
        "echo x > /dev/null && head -c 4 /dev/urandom | wc -c | grep -q 4 && head -c 4 /dev/zero > z && echo x > /dev/stderr && ! (: < /dev/tty) 2>/dev/null",
    ),
    task("named pipes", &["mkfifo"], "mkfifo p && (echo x > p &) && grep -q x p"),
    task(
        "links and modes",
        &["ln"],
        "ln -s file l && ln file h && chmod 600 file && touch -d 2001-01-01 file && [ $(stat -c %a file) = 600 ]",
    ),
    task("rename between directories", &["mv"], "mkdir -p a/b && mv file a/b/ && mv a/b c && cat c/file"),
    task("processes", &["ps"], "ps aux | grep -q bash && ps -o pid= -p $$"),
    task(
        "signals between own processes",
        &["kill"],
        "trap 'exit 0' USR1; (sleep 0.1; kill -USR1 $$) & sleep 5 & wait; exit 1",
    ),
    task("timeout and nice", &["timeout"], "timeout 5 nice -n 5 true"),
    task(
        "tmux",
        &["tmux"],
        "tmux -L t -f /dev/null new-session -d 'sleep 30' && tmux -L t ls | grep -q windows && tmux -L t kill-server",
    ),
    task(
        "script in a terminal",
        &["script"],
        "script -qc 'test -t 1 && echo terminal' /dev/null | grep -q terminal",
    ),
    task("agents are absent", &["ssh-add"], "ssh-add -l || [ $? = 2 ]"),
    task("locks", &["flock"], "flock lock true && flock $TMPDIR/lock true"),
    task(
        "dd and truncate",
        &["dd"],
        "dd if=/dev/zero of=d bs=1k count=4 status=none && truncate -s 2k d && [ $(stat -c %s d) = 2048 ]",
    ),
    task(
        "caches are writable",
        &["mkdir"],
        "mkdir -p $USER_HOME/.cache && touch $USER_HOME/.cache/hermes-sandbox-test && rm $USER_HOME/.cache/hermes-sandbox-test",
    ),
    task(
        "awk, cut, tr, jq-like pipes",
        &["awk"],
        "awk -F: '{print $1}' /etc/passwd | sort -u | head -3 | tr a-z A-Z | grep -q .",
    ),
    task("shell functions and traps", &["sh"], "sh -c 'f() { trap \"echo bye\" EXIT; }; f' | grep -q bye"),
    task("date, id, uname", &["date"], "date +%Y && id && uname -a && hostname"),
    task("limits", &["bash"], "ulimit -a > /dev/null && ulimit -n 64 && prlimit > /dev/null"),
];

/// A package with its own builder, because the usual ones come from the network.
const PIP: &str = r#"mkdir pkg
cat > pkg/pyproject.toml <<'END'
[build-system]
requires = []
build-backend = "builder"
backend-path = ["."]
[project]
name = "tiny"
version = "1"
END
cat > pkg/builder.py <<'END'
import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("tiny.py", "x = 42")
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "tiny.py,,\ntiny-1.dist-info/METADATA,,\ntiny-1.dist-info/WHEEL,,\ntiny-1.dist-info/RECORD,,\n")
    return name
END
python3 -m venv v
v/bin/pip install -q --no-index --disable-pip-version-check ./pkg
v/bin/python -c 'import tiny; assert tiny.x == 42'"#;

/// Programs that must be there in CI.
pub(crate) const IN_CI: [&str; 10] =
    ["git", "python3", "cargo", "rustc", "cc", "gcc", "make", "tar", "node", "npm"];
