use super::*;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;
use std::io::Write;

const FONT: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

/// A file of these objects, numbered from 1, without a table.
fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (index, object) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n", index + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(format!("trailer\n<<{trailer}>>\n%%EOF\n").bytes());
    bytes
}

fn stream(dict: &str, bytes: &[u8]) -> Vec<u8> {
    let mut object = format!("<<{dict}/Length {}>>\nstream\n", bytes.len()).into_bytes();
    object.extend(bytes);
    object.extend(b"\nendstream");
    object
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file with one page.
fn page(content: &str, font: &str) -> Vec<u8> {
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F1 {font}>>>>>>").into_bytes(),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_vec(),
        stream("/Filter/FlateDecode", &deflated(content.as_bytes())),
    ];
    file(&objects, "/Root 1 0 R")
}

fn text(bytes: &[u8]) -> Result<String, DocumentError> {
    pdf_text(bytes, 10_000)
}

#[test]
fn lines_and_words_come_from_places() {
    for (content, want) in [
        ("BT /F1 12 Tf 72 700 Td (Hello World) Tj ET", "Hello World"),
        ("BT /F1 12 Tf 72 700 Td (one) Tj 0 -14 Td (two) Tj ET", "one\ntwo"),
        ("BT /F1 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' ET", "one\ntwo\nthree"),
        ("BT /F1 12 Tf 72 700 Td (one) Tj 0 -40 Td (two) Tj ET", "one\n\ntwo"),
        ("BT /F1 12 Tf 72 700 Td [(Wor) 20 (ld) -400 (x)] TJ ET", "World x"),
        ("BT /F1 12 Tf 1 0 0 1 72 700 Tm (a) Tj 1 0 0 1 172 700 Tm (b) Tj ET", "a b"),
        ("BT /F1 1 Tf 12 0 0 12 72 700 Tm (big) Tj 0 -1.2 TD (small) Tj ET", "big\nsmall"),
        ("BT /F1 12 Tf 72 700 Td (caf\\351 \\200) Tj ET", "café €"),
        ("BT /F1 12 Tf 72 700 Td <48> Tj <69> Tj ET", "Hi"),
        ("BI /W 1 ID \x01 (no) Tj EIx EI BT /F1 12 Tf (yes) Tj ET", "yes"),
        ("q 2 0 0 2 0 0 cm BT /F1 6 Tf (a) Tj 0 -7 Td (b) Tj ET Q", "a\nb"),
    ] {
        assert_eq!(text(&page(content, FONT)).as_deref(), Ok(want), "{content}");
    }
}

#[test]
fn fonts_map_codes() {
    let differences = "<</Subtype/Type1/Encoding<</Differences[65/eacute/fi/uni0416]>>>>";
    assert_eq!(text(&page("BT /F1 9 Tf (ABC) Tj ET", differences)).as_deref(), Ok("éﬁЖ"));
    let map = b"1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0001> <0009> <4e2d> endbfrange";
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[3 0 R]>>".to_vec(),
        b"<</Type/Page/Resources<</Font<</F1 5 0 R>>>>/Contents[4 0 R 4 0 R]>>".to_vec(),
        stream("", b"BT /F1 9 Tf <00010002> Tj ET"),
        b"<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</DW 900/W[1[1000 1000]]>>]>>".to_vec(),
        stream("/Filter[/ASCIIHexDecode/FlateDecode]", hex(&deflated(map)).as_bytes()),
    ];
    assert_eq!(text(&file(&objects, "/Root 1 0 R")).as_deref(), Ok("中丮 中丮"));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn packed_objects_and_forms_are_read() {
    let packed = format!(
        "1 0 2 32 {:>20}<</Type/Catalog/Pages 2 0 R>>   <</Kids[3 0 R]/Resources<</Font<</F1 {FONT}>>/XObject<</X 6 0 R>>>>>>",
        ""
    );
    let objects = [
        b"null".to_vec(),
        b"null".to_vec(),
        b"<</Type/Page/Contents 4 0 R>>".to_vec(),
        stream("", b"/X Do"),
        stream("/Type/ObjStm/N 2/First 29/Filter/FlateDecode", &deflated(packed.as_bytes())),
        stream("/Subtype/Form", b"BT /F1 9 Tf (inside) Tj ET /X Do"),
        stream("/Type/XRef/Root 1 0 R", b""),
    ];
    assert_eq!(text(&file(&objects, "")).as_deref(), Ok("inside"));
}

#[test]
fn files_without_text_say_why() {
    let plain = page("BT /F1 12 Tf (x) Tj ET", FONT);
    let locked = [plain.clone(), b"trailer <</Root 1 0 R/Encrypt 9 0 R>>".to_vec()].concat();
    for (bytes, want) in [
        (b"<html>".to_vec(), DocumentError::OtherKind("PDF")),
        (b"%PDF-1.4\n".to_vec(), DocumentError::Damaged("no pages were found")),
        (page("0 0 10 10 re f", FONT), DocumentError::NoText),
        (locked, DocumentError::Encrypted),
    ] {
        assert_eq!(text(&bytes), Err(want));
    }
    assert_eq!(pdf_text(&plain, 0).as_deref(), Ok(""));
    let long = page("BT /F1 12 Tf (abcdef) Tj ET", FONT);
    assert_eq!(pdf_text(&long, 3).as_deref(), Ok("abc"));
    // Without catalogue and tree, pages are found by themselves.
    let loose = String::from_utf8_lossy(&page("", FONT)).replace("/Catalog", "/Cat");
    assert_eq!(text(loose.as_bytes()), Err(DocumentError::NoText));
}

#[test]
fn bombs_are_refused() {
    let zeros = deflated(&deflated(&vec![b' '; 100 << 20]));
    let nested = page("", FONT);
    let at = memchr::memmem::find(&nested, b"4 0 obj").unwrap();
    let mut bytes = nested[..at].to_vec();
    bytes.extend(b"4 0 obj\n");
    bytes.extend(stream("/Filter[/FlateDecode/FlateDecode]", &zeros));
    bytes.extend(b"\nendobj\ntrailer <</Root 1 0 R>>");
    assert!(matches!(text(&bytes), Err(DocumentError::TooLarge(_))));
    // Each form shows the next one ten times.
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[3 0 R]>>".to_vec(),
        b"<</Type/Page/Resources<</XObject<</X 4 0 R>>>>/Contents 15 0 R>>".to_vec(),
    ];
    for number in 5..=15 {
        let dict = format!("/Subtype/Form/Resources<</XObject<</X {number} 0 R>>>>");
        objects.push(stream(&dict, "/X Do ".repeat(10).as_bytes()));
    }
    objects.push(stream("", "/X Do ".repeat(10).as_bytes()));
    assert!(matches!(
        text(&file(&objects, "/Root 1 0 R")),
        Err(DocumentError::TooLarge(_) | DocumentError::NoText)
    ));
}

#[test]
fn circles_end() {
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[2 0 R 3 0 R]/Resources 4 0 R>>".to_vec(),
        b"<</Type/Page/Contents 5 0 R>>".to_vec(),
        b"4 0 R".to_vec(),
        b"<</Length 5 0 R>>\nstream\n(x) Tj\nendstream".to_vec(),
    ];
    assert_eq!(text(&file(&objects, "/Root 1 0 R")), Err(DocumentError::NoText));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = text(&[b"%PDF-1.4\n".to_vec(), bytes].concat());
    }

    #[test]
    fn damaged_files_are_survived(at in 0_usize..700, with in any::<u8>(), cut in 0_usize..800) {
        let mut bytes = page("BT /F1 12 Tf 72 700 Td [(Wor) 20 (ld)] TJ <41> ' ET", FONT);
        let length = bytes.len();
        bytes[at % length] = with;
        bytes.truncate(cut.max(9));
        let _ = text(&bytes);
    }

    #[test]
    fn any_instructions_are_survived(content in "[BT ET/F1 0-9.()<>\\[\\]TjJdDmfqQcmoI'\"E-]{0,200}") {
        let _ = text(&page(&content, FONT));
    }
}
