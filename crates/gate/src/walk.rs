//! The walk over all commands of a text: every position, in the order in which a shell would run them.
//!
//! [`Walker`] knows variables, functions, aliases and the working directory as far as the text sets them, and collects
//! findings. Branches that may not run leave both values behind, so a later word has all values that it may have.

mod builtins;
mod compound;
mod findings;
mod payload;
mod redirects;
mod simple;
mod subscripts;

use crate::assessment::{Assessment, Finding};
use crate::field::Field;
use crate::limits::{MAX_DEPTH, Spent, Unreadable};
use crate::output::Output;
use crate::scene::Scene;
use crate::syntax::{AndOr, Command, Connector, Pipeline, Script};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

pub(crate) use simple::Call;

/// The possible values of a variable, or the elements of an array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) fields: Vec<Field>,
    pub(crate) is_array: bool,
}

/// The state of a shell that reads the text, and the findings so far.
pub(crate) struct Walker<'s> {
    pub(crate) scene: &'s Scene,
    /// The working directory, if it is known.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) variables: HashMap<String, Value>,
    /// Former values of changed variables, to leave a subshell or a branch.
    undo: Vec<(String, Option<Value>)>,
    functions: HashMap<String, Rc<Command>>,
    /// Functions that were walked with the arguments of a call.
    called: HashSet<String>,
    calling: Vec<Rc<Command>>,
    pub(crate) aliases: HashMap<String, String>,
    pub(crate) positional: Option<Vec<Field>>,
    /// Outputs of process substitutions, by number.
    pub(crate) processes: Vec<Output>,
    /// Files that the text made executable or fetched from the network.
    pub(crate) prepared: Vec<(PathBuf, Prepared)>,
    /// The content of files that the text writes, as far as it is known.
    pub(crate) contents: HashMap<PathBuf, String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) commands: Vec<String>,
    /// Files are written or deleted, wherever they are.
    pub(crate) changes_files: bool,
    pub(crate) spent: Spent,
    pub(crate) depth: usize,
    is_background: bool,
    is_piped: bool,
}

/// The way in which a file of this text became a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepared {
    Executable,
    Remote,
    Unknown,
}

impl<'s> Walker<'s> {
    pub(crate) fn new(scene: &'s Scene) -> Self {
        let cwd = Some(scene.cwd.clone()).filter(|cwd| cwd.is_absolute());
        Self {
            scene,
            cwd,
            variables: HashMap::new(),
            undo: Vec::new(),
            functions: HashMap::new(),
            called: HashSet::new(),
            calling: Vec::new(),
            aliases: HashMap::new(),
            positional: None,
            processes: Vec::new(),
            prepared: Vec::new(),
            contents: HashMap::new(),
            findings: Vec::new(),
            commands: Vec::new(),
            changes_files: false,
            spent: Spent::default(),
            depth: 0,
            is_background: false,
            is_piped: false,
        }
    }

    pub(crate) fn finish(self) -> Assessment {
        Assessment { findings: self.findings, commands: self.commands, changes_files: self.changes_files }
    }

    pub(crate) fn nested<T>(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        if self.depth >= MAX_DEPTH {
            return Err(Unreadable::TooDeep);
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        result
    }

    /// Walks a whole text, then the functions that it defines and never calls.
    pub(crate) fn whole(&mut self, script: &Script, stdin: Output) -> Result<Output, Unreadable> {
        let output = self.script(script, stdin)?;
        let mut uncalled: Vec<_> =
            self.functions.iter().filter(|(name, _)| !self.called.contains(*name)).collect();
        uncalled.sort_by(|one, other| one.0.cmp(other.0));
        let bodies: Vec<_> =
            uncalled.into_iter().map(|(name, body)| (name.clone(), Rc::clone(body))).collect();
        for (name, body) in bodies {
            self.call_function(&name, &body, None, Output::Unknown)?;
        }
        Ok(output)
    }

    pub(crate) fn script(&mut self, script: &Script, stdin: Output) -> Result<Output, Unreadable> {
        let mut output = Output::Nothing;
        for item in &script.items {
            let next = self.and_or(item, stdin.clone())?;
            output = output.then(next);
        }
        Ok(output)
    }

    fn and_or(&mut self, item: &AndOr, stdin: Output) -> Result<Output, Unreadable> {
        let was_background = self.is_background;
        self.is_background |= item.is_background;
        let mark = self.mark();
        let mut output = self.pipeline(&item.first, stdin.clone())?;
        if item.is_background {
            self.leave_subshell(mark);
        }
        // What follows `&&` ran only if all before it ran, so within the chain its assignments hold.
        let mark = self.mark();
        for (connector, pipeline) in &item.rest {
            if *connector == Connector::Or {
                self.leave_branch(&mark);
            }
            let next = self.pipeline(pipeline, stdin.clone())?;
            output = output.then(next);
        }
        if !item.rest.is_empty() {
            self.leave_branch(&mark);
        }
        self.is_background = was_background;
        Ok(output)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, stdin: Output) -> Result<Output, Unreadable> {
        if let [command] = pipeline.commands.as_slice() {
            return self.command(command, stdin);
        }
        let was_piped = std::mem::replace(&mut self.is_piped, true);
        let mut passed = stdin;
        for command in &pipeline.commands {
            let mark = self.mark();
            passed = self.command(command, passed)?;
            if passed == Output::Nothing {
                // The next command reads a pipe, and not the standard input of the caller.
                passed = Output::Text(String::new());
            }
            self.leave_subshell(mark);
        }
        self.is_piped = was_piped;
        Ok(passed)
    }

    /// Walks a substitution. It runs in a shell of its own.
    pub(crate) fn substitution(
        &mut self,
        script: &Script,
        stdin: Option<Output>,
    ) -> Result<Output, Unreadable> {
        let mark = self.mark();
        let output = self.nested(|walker| walker.script(script, stdin.unwrap_or_default()))?;
        self.leave_subshell(mark);
        Ok(output)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let former = self.variables.insert(name.to_owned(), value);
        self.undo.push((name.to_owned(), former));
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { undo: self.undo.len(), cwd: self.cwd.clone() }
    }

    /// Forgets what a subshell set.
    pub(crate) fn leave_subshell(&mut self, mark: Mark) {
        while self.undo.len() > mark.undo {
            let Some((name, former)) = self.undo.pop() else { break };
            match former {
                Some(value) => self.variables.insert(name, value),
                None => self.variables.remove(&name),
            };
        }
        self.cwd = mark.cwd;
    }

    /// Keeps both the values that a branch set and those from before it.
    pub(crate) fn leave_branch(&mut self, mark: &Mark) {
        let changes: Vec<_> = self.undo.iter().skip(mark.undo).cloned().collect();
        let mut seen = HashSet::new();
        for (name, former) in changes {
            if !seen.insert(name.clone()) {
                continue;
            }
            let before = former.unwrap_or_else(|| Value::scalar_of(Field::unknown()));
            if let Some(now) = self.variables.get(&name).cloned() {
                self.variables.insert(name, now.or(before));
            }
        }
        if self.cwd != mark.cwd && !(self.is_in_project(&self.cwd) && self.is_in_project(&mark.cwd)) {
            self.cwd = None;
        }
    }

    fn is_in_project(&self, cwd: &Option<PathBuf>) -> bool {
        cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&self.scene.project))
    }
}

/// A state to return to.
pub(crate) struct Mark {
    undo: usize,
    cwd: Option<PathBuf>,
}
