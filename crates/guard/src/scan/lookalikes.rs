//! Letters of other scripts that look like Latin ones.
//!
//! Cyrillic capitals and small letters map to the same Latin letter, so that rules in Russian do not depend on
//! case. There are no rules in Greek; its letters are mapped by their look.

/// The Latin letter that looks like `char`, if any.
pub(super) fn latin(char: char) -> Option<char> {
    let plain = match char {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' | 'ᴀ' => 'a',
        'в' | 'В' | 'β' | 'Β' | 'ʙ' | 'Ꮟ' => 'b',
        'с' | 'С' | 'ϲ' | 'Ϲ' | 'ᴄ' | 'ⅽ' => 'c',
        'ԁ' | 'Ԁ' | 'ᴅ' | 'đ' | 'Đ' | 'Ꭰ' => 'd',
        'е' | 'Е' | 'ε' | 'Ε' | 'ᴇ' | 'Ꭼ' | '℮' => 'e',
        'ꜰ' | 'ƒ' => 'f',
        'ɡ' | 'ɢ' | 'ց' | 'Ԍ' | 'ԍ' => 'g',
        'һ' | 'Һ' | 'н' | 'Н' | 'Η' | 'ʜ' | 'հ' | 'Ꮋ' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'ɪ' | 'ɩ' => 'i',
        'ј' | 'Ј' | 'ϳ' | 'ᴊ' | 'յ' => 'j',
        'к' | 'К' | 'κ' | 'Κ' | 'ᴋ' | 'Ꮶ' => 'k',
        'ӏ' | 'Ӏ' | 'ʟ' | 'ł' | 'Ł' | 'Ꮮ' | 'ⅼ' => 'l',
        'м' | 'М' | 'Μ' | 'ᴍ' | 'Ꮇ' => 'm',
        'Ν' | 'η' | 'ɴ' | 'ո' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'σ' | 'ᴏ' | 'ø' | 'Ø' | 'օ' | 'Օ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' | 'ᴘ' | 'Ꮲ' => 'p',
        'ԛ' | 'Ԛ' | 'զ' => 'q',
        'ʀ' | 'Ꭱ' | 'ꭇ' => 'r',
        'ѕ' | 'Ѕ' | 'ꜱ' | 'Ꮪ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' | 'ᴛ' | 'Ꭲ' => 't',
        'υ' | 'ս' | 'Ս' | 'ᴜ' => 'u',
        'ν' | 'ѵ' | 'Ѵ' | 'ᴠ' | 'Ꮩ' => 'v',
        'ԝ' | 'Ԝ' | 'ω' | 'ᴡ' | 'Ꮤ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' | 'γ' | 'ү' | 'Ү' | 'ʏ' => 'y',
        'ζ' | 'Ζ' | 'ᴢ' | 'Ꮓ' => 'z',
        // Quotation marks and dashes of other kinds join words as the plain ones do.
        '‘' | '’' | 'ʼ' => '\'',
        '‐' | '‑' | '–' | '—' | '−' => '-',
        _ => return None,
    };
    Some(plain)
}
