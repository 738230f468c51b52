use crate::limits::Spent;
use crate::scene::Scene;
use crate::syntax::{Kind, parse};
use crate::walk::Walker;

/// The fields of the last command of a text.
fn fields(text: &str) -> Vec<String> {
    let scene = Scene {
        cwd: "/home/dev/app".into(),
        project: "/home/dev/app".into(),
        user_home: Some("/home/dev".into()),
        is_sandboxed: true,
        variables: [
            ("EXPORTED", Some("/home/dev/app/build")),
            ("WORDS", Some("a b*")),
            ("LONG", Some("x".repeat(5000).as_str())),
            ("MARKED", Some("\u{1}")),
            ("TMPDIR", None),
        ]
        .map(|(name, value)| (name.to_owned(), value.map(str::to_owned)))
        .into(),
        ..Scene::default()
    };
    let (mut script, _) = parse(text, 0, Spent::default()).unwrap();
    let last = script.items.pop().unwrap();
    let mut walker = Walker::new(&scene);
    walker.script(&script, crate::output::Output::Nothing).unwrap();
    let Kind::Simple(simple) = &last.first.commands[0].kind else { panic!("not a simple command") };
    let fields = simple.words.iter().flat_map(|word| walker.fields(word).unwrap());
    fields.map(|field| crate::field::shown(&field.text)).collect()
}

#[test]
fn literal_expansions_are_evaluated() {
    for (text, want) in [
        ("e {a,b}{1..3}", "e a1 a2 a3 b1 b2 b3"),
        ("e {a} {} {a,{b,c}}", "e {a} {} a b c"),
        ("e ~ ~/x ~root ~bob/y", "e /home/dev /home/dev/x /root /home/bob/y"),
        ("e $HOME \"${HOME}/x\" $PWD", "e /home/dev /home/dev/x /home/dev/app"),
        ("x=rm; $x -rf", "rm -rf"),
        ("x='a b'; e $x \"$x\"", "e a b a b"),
        ("a=(1 '2 3'); e ${a[@]} ${a[1]}", "e 1 2 3 2 3"),
        (
            "x=file.txt; e ${x%.txt} ${x##*.} ${x/file/f} ${x^^} ${x:0:4} ${x:-y}",
            "e file txt f.txt FILE.TXT file file.txt",
        ),
        ("e $(echo a b) `printf %s c`", "e a b c"),
        ("e $(echo 'x y' | base64 -d) $UNSET ${UNSET:-d}", "e … … … d"),
        ("[ -f x ] && d=/tmp; e $d", "e /tmp …"),
        ("for d in a b; do :; done; e $d", "e a b …"),
        ("(x=1); e $x", "e …"),
        ("set -- p q; e $1 \"$@\"", "e p p q"),
        ("x=a; x+=b; e $x", "e ab"),
        ("e a$IFS'b'", "e a b"),
        ("e $EXPORTED/x ${EXPORTED:-y} ${EXPORTED##*/}", "e /home/dev/app/build/x /home/dev/app/build build"),
        ("e $WORDS \"$WORDS\"", "e a b* a b*"),
        ("EXPORTED=b; e $EXPORTED", "e b"),
        ("(EXPORTED=b); e $EXPORTED", "e /home/dev/app/build"),
        ("[ -f x ] && EXPORTED=b; e $EXPORTED", "e b …"),
        ("e $LONG $MARKED", "e … …"),
        ("e x$TMPDIR ${TMPDIR:-d}", "e x d"),
    ] {
        assert_eq!(fields(text).join(" "), want, "{text}");
    }
}
