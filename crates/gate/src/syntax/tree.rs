//! The tree that the parser builds.

use std::cell::OnceCell;
use std::rc::Rc;

/// A list of commands.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Script {
    pub(crate) items: Vec<AndOr>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, PartialEq)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Connector, Pipeline)>,
    pub(crate) is_background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connector {
    And,
    Or,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    Simple(Simple),
    Group(Script),
    Subshell(Script),
    /// `if`: conditions and bodies in the order of the text.
    If(Vec<Script>),
    /// `while` and `until`: condition and body.
    Loop(Script, Script),
    /// `for` and `select`. Without a list, the positional parameters.
    For {
        variable: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Case {
        subject: Word,
        patterns: Vec<Word>,
        bodies: Vec<Script>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    /// `[[ ... ]]` and `(( ... ))`: only their substitutions matter.
    Test(Vec<Word>),
    Coprocess(Box<Command>),
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// The subscript of an element, with the substitutions in it.
    pub(crate) subscript: Word,
    pub(crate) is_append: bool,
    /// One word for a scalar, any number for an array.
    pub(crate) values: Vec<Word>,
    pub(crate) is_array: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Redirect {
    /// The descriptor before the operator.
    pub(crate) descriptor: Option<u32>,
    pub(crate) kind: RedirectKind,
}

#[derive(Debug, PartialEq)]
pub(crate) enum RedirectKind {
    /// `<`
    Read(Word),
    /// `>`, `>>`, `>|`, `<>`, `&>`, `&>>` and `>&` with a file.
    Write(Word),
    /// `>&N`, `<&N` and closings.
    Duplicate(Word),
    /// `<<` and `<<-`
    Here(Rc<Here>),
    /// `<<<`
    HereString(Word),
}

/// A here-document. Its body is read at the next line end, after the tree node exists.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Here {
    pub(crate) body: OnceCell<Word>,
}

/// A word: parts that are joined without a blank.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

impl Word {
    /// The text of a word that has no quotes and no expansions.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// Unquoted text; `*`, `?` and `[` are patterns.
    Literal(String),
    /// Text from quotes or after a backslash.
    Quoted(String),
    /// `~`, or `~user`
    Tilde(String),
    BraceOpen,
    BraceComma,
    BraceClose,
    Parameter {
        name: String,
        operation: Operation,
        is_quoted: bool,
    },
    /// `$( ... )` and backticks.
    Command {
        script: Rc<Script>,
        is_quoted: bool,
    },
    /// `<( ... )` and `>( ... )`
    Process {
        script: Rc<Script>,
        is_output: bool,
    },
    /// `$(( ... ))` with the substitutions in it.
    Arithmetic(Vec<Part>),
    /// The elements of `name=( ... )` as an argument of `declare` and the like.
    Array(Vec<Word>),
}

/// The operation of `${name...}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    Plain,
    /// `[@]` and `[*]`
    All,
    /// `[N]`
    Index(String),
    /// `:-` and `-`, `:=` and `=`
    Default(Vec<Part>),
    /// `:+` and `+`
    Alternative(Vec<Part>),
    /// `:?` and `?`, with the message
    Required(Vec<Part>),
    /// `#`, `##`, `%`, `%%` with the pattern.
    Trim {
        operator: &'static str,
        pattern: Vec<Part>,
    },
    /// `/`, `//`: pattern and replacement.
    Replace {
        is_all: bool,
        pattern: Vec<Part>,
        replacement: Vec<Part>,
    },
    /// `:offset:length` with literal numbers.
    Slice {
        offset: i64,
        length: Option<i64>,
    },
    /// `^`, `^^`, `,`, `,,`
    Case(&'static str),
    /// An operation that is not evaluated, with the substitutions in it.
    Other(Vec<Part>),
}
