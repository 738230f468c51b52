//! XML as a sequence of tags and texts.
//!
//! Nothing is nested and no entity but the five of XML and character numbers is expanded, so a hostile file costs no
//! more than its length.

/// A piece of XML. Names are without the prefix of their namespace.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece<'a> {
    Start(Tag<'a>),
    /// The end of an element, also of an empty one.
    End(&'a str),
    Text(String),
}

/// A start tag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tag<'a> {
    pub(crate) name: &'a str,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute by its name without a prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
            let (value, after) = after[1..].split_once(quote)?;
            if local(key.trim()) == name {
                return Some(unescaped(value));
            }
            rest = after;
        }
    }
}

/// A reader of XML.
pub(crate) struct Xml<'a> {
    rest: &'a str,
    /// The name of an empty element, whose end comes next.
    ended: Option<&'a str>,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, ended: None }
    }

    fn markup(&mut self) -> Option<Piece<'a>> {
        let rest = self.rest;
        for (start, end, shown) in [("<!--", "-->", false), ("<![CDATA[", "]]>", true), ("<?", "?>", false)] {
            if let Some(inner) = rest.strip_prefix(start) {
                let length = inner.find(end).unwrap_or(inner.len());
                self.rest = inner.get(length + end.len()..).unwrap_or_default();
                return Some(Piece::Text(if shown { inner[..length].to_owned() } else { String::new() }));
            }
        }
        let length = rest.find('>')?;
        self.rest = &rest[length + 1..];
        let inner = &rest[1..length];
        if inner.starts_with('!') {
            return Some(Piece::Text(String::new()));
        }
        if let Some(name) = inner.strip_prefix('/') {
            return Some(Piece::End(local(name.trim())));
        }
        let (inner, is_empty) = inner.strip_suffix('/').map_or((inner, false), |inner| (inner, true));
        let (name, attributes) = inner.split_once(|sign: char| sign.is_whitespace()).unwrap_or((inner, ""));
        let name = local(name);
        self.ended = is_empty.then_some(name);
        Some(Piece::Start(Tag { name, attributes }))
    }
}

impl<'a> Iterator for Xml<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if let Some(name) = self.ended.take() {
            return Some(Piece::End(name));
        }
        if self.rest.is_empty() {
            return None;
        }
        if self.rest.starts_with('<') {
            return self.markup();
        }
        let length = self.rest.find('<').unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(Piece::Text(unescaped(text)))
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let entity = after.split_once(';').filter(|(name, _)| name.len() <= 10);
        match entity.and_then(|(name, after)| Some((character(name)?, after))) {
            Some((character, after)) => {
                plain.push(character);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = after;
            }
        }
    }
    plain + rest
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read() {
        let text = "<?xml?><!DOCTYPE x><w:a w:v='1 &lt;' r:id=\"k\">A&amp;&#65;&x;<b/><!-- c --><![CDATA[<i>]]></w:a><cut";
        let shown: Vec<String> = Xml::new(text)
            .filter_map(|piece| match piece {
                Piece::Start(tag) => Some(format!("<{} {:?}", tag.name, tag.attribute("v"))),
                Piece::End(name) => Some(format!("/{name}")),
                Piece::Text(text) => (!text.is_empty()).then_some(text),
            })
            .collect();
        assert_eq!(shown, ["<a Some(\"1 <\")", "A&A&x;", "<b None", "/b", "<i>", "/a"]);
        let Some(Piece::Start(tag)) = Xml::new("<a b='1' x:id=\"k\">").next() else { panic!() };
        assert_eq!((tag.attribute("id").as_deref(), tag.attribute("c")), (Some("k"), None));
    }
}
