//! Options and operands of a command line.

use crate::field::Field;

/// Options that take a value, by letter and by long name.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spec {
    /// Letters of short options whose value is the rest of the word or the next one.
    pub(crate) letters: &'static str,
    pub(crate) long: &'static [&'static str],
}

/// A parsed option.
#[derive(Debug, Clone)]
pub(crate) struct Opt {
    /// `-x` or `--name`.
    pub(crate) name: String,
    pub(crate) value: Option<Field>,
}

/// The options and the operands of a command line.
#[derive(Debug, Default)]
pub(crate) struct Parsed<'a> {
    pub(crate) options: Vec<Opt>,
    pub(crate) operands: Vec<&'a Field>,
}

impl Parsed<'_> {
    /// Returns true if an option of one of these names is set. Long names may be shortened to three letters or more.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.iter().any(|name| is_name(&option.name, name)))
    }

    /// The values of the options of one of these names.
    pub(crate) fn values<'p>(&'p self, names: &'p [&'p str]) -> impl Iterator<Item = &'p Field> {
        self.options
            .iter()
            .filter(move |option| names.iter().any(|name| is_name(&option.name, name)))
            .filter_map(|option| option.value.as_ref())
    }
}

fn is_name(given: &str, name: &str) -> bool {
    given == name || (name.starts_with("--") && given.len() >= 5 && name.starts_with(given))
}

/// Separates options from operands, wherever they stand.
pub(crate) fn parse<'a>(arguments: &'a [Field], spec: Spec) -> Parsed<'a> {
    parse_until(arguments, spec, usize::MAX).0
}

/// Stops after `count` operands, and returns the index of the argument after the last one.
pub(crate) fn parse_until<'a>(arguments: &'a [Field], spec: Spec, count: usize) -> (Parsed<'a>, usize) {
    let mut parsed = Parsed::default();
    let mut index = 0;
    while let Some(field) = arguments.get(index) {
        let text = field.text.as_str();
        if text == "--" {
            index += 1;
            let room = count.saturating_sub(parsed.operands.len());
            let rest: Vec<&Field> = arguments.iter().skip(index).take(room).collect();
            index += rest.len();
            parsed.operands.extend(rest);
            break;
        }
        if !text.starts_with('-') || text == "-" {
            if parsed.operands.len() >= count {
                break;
            }
            parsed.operands.push(field);
            index += 1;
            if parsed.operands.len() == count {
                break;
            }
            continue;
        }
        index += 1;
        if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => {
                    (name, Some(Field { text: value.into(), is_pattern: field.is_pattern }))
                }
                None => (text, None),
            };
            let takes = value.is_none() && spec.long.iter().any(|long| is_name(name, long));
            let value = value.or_else(|| takes.then(|| arguments.get(index).cloned()).flatten());
            index += usize::from(takes);
            parsed.options.push(Opt { name: name.into(), value });
            continue;
        }
        index += short_options(field, arguments.get(index), spec, &mut parsed);
    }
    (parsed, index.min(arguments.len()))
}

/// Reads `-abc`; returns 1 if the next argument is the value of the last option.
fn short_options(field: &Field, next: Option<&Field>, spec: Spec, parsed: &mut Parsed<'_>) -> usize {
    let text = field.text.get(1..).unwrap_or_default();
    for (at, letter) in text.char_indices() {
        let name = format!("-{letter}");
        if !spec.letters.contains(letter) {
            parsed.options.push(Opt { name, value: None });
            continue;
        }
        let rest = text.get(at + letter.len_utf8()..).unwrap_or_default();
        let is_separate = rest.is_empty();
        let value = if is_separate { next.cloned() } else { Some(Field::literal(rest)) };
        parsed.options.push(Opt { name, value });
        return usize::from(is_separate);
    }
    0
}
