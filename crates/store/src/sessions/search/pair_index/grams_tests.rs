use super::*;

#[test]
fn message_has_a_term_for_every_sign_and_pair() {
    for (text, hidden, want) in [
        ("plain words", false, ""),
        ("go!", false, " 000021 00006f000021"),
        ("C#", false, " 000023 000063000023"),
        ("中文", false, " 004e2d 004e2d006587 006587"),
        ("中 文", false, " 004e2d 006587"),
        ("a中a中", false, " 000061004e2d 004e2d 004e2d000061"),
        ("❤\u{fe0f}", false, " 002764"),
        ("ab", true, "hidden 000061 000061000062 000062"),
        ("\0\u{7}", false, ""),
    ] {
        assert_eq!(of_message(text, hidden), want, "{text:?}");
    }
}

#[test]
fn short_search_term_is_a_term_of_its_message() {
    for (term, text) in [
        ("中", "我在中国"),
        ("中国", "我在中国"),
        ("C#", "uses c# a lot"),
        ("🎉", "done🎉"),
        ("->", "a->b"),
        ("ไท", "ภาษาไทย"),
    ] {
        let words = of_message(text, false);
        assert!(words.split(' ').any(|word| word == of_term(term)), "{term} in {text}");
    }
    assert_eq!(all_of_term("ab"), r#""hidden" AND "000061" AND "000061000062" AND "000062""#);
}
