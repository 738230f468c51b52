use super::*;
use proptest::prelude::*;

/// The text and the reasoning of a reply.
fn split<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
    let mut splitter = ThinkSplitter::default();
    let (mut said, mut thought) = (String::new(), String::new());
    let mut each = |piece: Piece<'_>| match piece {
        Piece::Text(text) => said.push_str(text),
        Piece::Reasoning(text) => thought.push_str(text),
    };
    for piece in pieces {
        splitter.feed(piece, &mut each);
    }
    splitter.finish(&mut each);
    (said, thought)
}

#[test]
fn reasoning_is_separated_from_text() {
    for (text, said, thought) in [
        ("hello", "hello", ""),
        ("<think>a</think>b", "b", "a"),
        ("<THINKING>\na\n</Thinking>\n\nb", "b", "\na\n"),
        ("  <thought>a</thought> b", "  b", "a"),
        (" hi", " hi", ""),
        ("<REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD>b", "b", "a"),
        ("line\n<think>x\ny</think>z", "line\nz", "x\ny"),
        ("line\n  <think>x</think>z", "line\n  z", "x"),
        ("a<think>b</think>c", "ac", "b"),
        ("x</think>y", "xy", ""),
        ("<think>never closed", "", "never closed"),
        ("<think>never closed </thi", "", "never closed </thi"),
        // Prose and code about tags are unchanged.
        ("code `<think>` here", "code `<think>` here", ""),
        ("use <think> tags\nand </b> too", "use <think> tags\nand </b> too", ""),
        ("a < b and <thin", "a < b and <thin", ""),
        (
            "```xml\n<think>kept</think>\n```\n<think>gone</think>end",
            "```xml\n<think>kept</think>\n```\nend",
            "gone",
        ),
        ("```a``` b\n<think>t</think>c", "```a``` b\nc", "t"),
        ("<thinker>no</thinker>", "<thinker>no</thinker>", ""),
        ("1 <2> 3", "1 <2> 3", ""),
        ("<think>a</think><think>b</think>c", "c", "ab"),
        ("é<think>ü</think>ö", "éö", "ü"),
        ("<think></think>", "", ""),
        ("", "", ""),
    ] {
        assert_eq!(split([text]), (said.to_owned(), thought.to_owned()), "{text}");
    }
}

#[test]
fn results_match_the_python_release() {
    // Recorded results; only the timing of the output differs.
    for (pieces, shown) in [
        (vec!["hello"], "hello"),
        (vec!["<th", "ink>a</thi", "nk>b"], "b"),
        (vec!["line\n<think>x", "y</think>z"], "line\nz"),
        (vec!["x</think>y"], "xy"),
        (vec!["<think>never closed"], ""),
        (vec!["code `<think>` here"], "code `<think>` here"),
        (vec!["a<think>b</think>c"], "ac"),
    ] {
        assert_eq!(split(pieces.clone()).0, shown, "{pieces:?}");
    }
}

#[test]
fn search_for_a_pair_is_bounded() {
    let far = "x".repeat(LONGEST_PAIR);
    let text = format!("a <think>{far}</think>");
    let (said, thought) = split([text.as_str()]);
    assert_eq!((said, thought.as_str()), (format!("a <think>{far}"), ""));
}

proptest! {
    #[test]
    fn how_the_text_arrives_makes_no_difference(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "<think>", "</think>", "<thinking>", "<", "/", ">", "think", "a", "é", "\n", " ", "`", "```", "<thi", "nk>",
            ]),
            0..40,
        ),
        cuts in prop::collection::vec(0usize..200, 0..8),
    ) {
        let whole = words.concat();
        let mut at: Vec<usize> = cuts.into_iter().filter(|cut| whole.is_char_boundary((*cut).min(whole.len()))).map(|cut| cut.min(whole.len())).collect();
        at.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in at {
            pieces.push(&whole[from..cut]);
            from = cut;
        }
        pieces.push(&whole[from..]);
        prop_assert_eq!(split(pieces), split([whole.as_str()]));
    }

    #[test]
    fn nothing_is_invented(text in "[<>/a-z `\n]{0,60}") {
        let (said, thought) = split([text.as_str()]);
        prop_assert!(said.len() + thought.len() <= text.len());
    }
}
