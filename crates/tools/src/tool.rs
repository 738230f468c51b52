//! The tool trait.
//!
//! A tool is written against [`Tool`], with typed arguments. The registry sees [`AnyTool`], in which the
//! types are erased; tools whose arguments are only known at run time implement that.

use crate::schema::{Schema, schema_of};
use crate::{Action, AskUser, Caller, Environment, ToolContext, Toolset, Touches, facts_of, untrusted};
use hermes_conversation::{
    BoxFuture, CallId, Cost, Effect, EventRelay, IntentId, ToolDefinition, ToolFacts, Transcript,
};
use hermes_gate::Grant;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Something the model can do.
///
/// `effect`, `action` and `concurrency` judge a call without carrying it out; they may look
/// at the file system but must not change or wait for anything. `run` carries it out once.
pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    const TOOLSET: Toolset;
    /// The facts about the tool that the rest of the program decides by.
    const FACTS: ToolFacts = ToolFacts::DEFAULT;
    /// The arguments. The type's doc comment is what the model reads about the tool; names of other tools are
    /// between backquotes.
    type Args: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// Parameters that other Hermes builds know and this one does not, each with the sentence
    /// that answers them. Ignoring them would do something else than was asked.
    const UNSUPPORTED: &'static [(&'static str, &'static str)] = &[];

    /// Synonyms of values: parameter, accepted value, meaning.
    const ALIASES: &'static [(&'static str, &'static str, &'static str)] = &[];

    /// Parameters that are of use only with another tool: parameter, tool. They are left out of the definition in a
    /// session without that tool.
    const NEEDS: &'static [(&'static str, &'static str)] = &[];

    /// Tools that stand for `{tools}` in the description, if the session has them.
    const LISTS: &'static [&'static str] = &[];

    /// True if it is rarely needed and may be kept in the catalogue.
    const SELDOM: bool = false;

    /// The reason why the call must not run, if any.
    fn refusal(&self, _args: &Self::Args, _cx: &ToolContext) -> Option<Refusal> {
        None
    }

    /// The effect of the call.
    fn effect(&self, _args: &Self::Args, _cx: &ToolContext) -> Effect {
        if Self::FACTS.reads_only { Effect::Read } else { Effect::Any }
    }

    /// The action that is decided about before the call runs. Without one it is harmless.
    fn action(&self, _args: &Self::Args, _cx: &ToolContext) -> Option<Action> {
        None
    }

    /// The calls that this one may run concurrently with.
    fn concurrency(&self, _args: &Self::Args, _cx: &ToolContext) -> Concurrency {
        Concurrency::Alone
    }

    /// The files that the call may change, for checkpoints.
    fn touches(&self, _args: &Self::Args, _cx: &ToolContext) -> Option<Touches> {
        None
    }

    fn run(
        &self,
        args: Self::Args,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A tool whose argument type is hidden.
///
/// `bind` turns arguments that fit `schema` into a call that is ready to run. It decides and
/// has no effect.
pub trait AnyTool: Send + Sync {
    fn name(&self) -> &str;
    /// The toolset's name, for instance `file` or `mcp-github`.
    fn toolset(&self) -> &str;
    fn definition(&self) -> ToolDefinition;
    /// The parameters as a JSON schema, against which arguments are bent and checked.
    fn schema(&self) -> &Value;
    /// The facts about the tool that the rest of the program decides by.
    fn facts(&self) -> ToolFacts {
        facts_of(self.name())
    }
    /// Parameters that are refused by name; see [`Tool::UNSUPPORTED`].
    fn unsupported(&self) -> &[(&str, &str)] {
        &[]
    }
    /// Synonyms of values; see [`Tool::ALIASES`].
    fn aliases(&self) -> &[(&str, &str, &str)] {
        &[]
    }
    /// Parameters that are of use only with another tool; see [`Tool::NEEDS`].
    fn needs(&self) -> &[(&str, &str)] {
        &[]
    }
    /// Tools that stand for `{tools}` in the description; see [`Tool::LISTS`].
    fn lists(&self) -> &[&str] {
        &[]
    }
    /// Returns true if it may be kept in the catalogue. Tools that are not built in may.
    fn is_seldom(&self) -> bool {
        true
    }
    /// Returns true if its results are untrusted and sent to the model as data only.
    fn is_untrusted(&self) -> bool {
        untrusted::is_named(self.name())
    }
    fn bind(self: Arc<Self>, arguments: Map<String, Value>, cx: &ToolContext) -> Result<Bound, Refusal>;
}

/// The reason why a call gets a result without running. The texts are read by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It makes no sense as it stands.
    Invalid(String),
    /// It is not allowed.
    Denied(String),
}

/// A call that only needs to be run.
pub struct Bound {
    pub effect: Effect,
    /// The action that is decided about before the call runs.
    pub action: Option<Action>,
    pub concurrency: Concurrency,
    /// The files that the call may change, for checkpoints.
    pub touches: Option<Touches>,
    pub body: Body,
}

/// The act itself.
pub type Body = Box<
    dyn for<'a> FnOnce(&'a ToolContext, &'a CallScope) -> BoxFuture<'a, Result<ToolOutput, ToolError>>
        + Send
        + Sync,
>;

/// The calls that a call may run concurrently with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concurrency {
    /// Beside anything; it touches nothing that others touch.
    Free,
    /// Beside what does not write these paths, or what is above or below them.
    Reads(Vec<PathBuf>),
    /// Beside what neither reads nor writes there.
    Writes(Vec<PathBuf>),
    /// Beside calls of the same kind, and nothing else.
    Kin,
    Alone,
}

/// One call as its tool sees it.
#[derive(Clone)]
pub struct CallScope {
    pub call_id: CallId,
    pub intent: IntentId,
    /// The working directory when the call was prepared. Paths are resolved against it, so
    /// that the paths that were recorded are the paths that are touched.
    pub cwd: PathBuf,
    /// The changes of the environment with which a command was judged.
    pub environment: Arc<Environment>,
    pub cancel: CancellationToken,
    pub transcript: Arc<dyn Transcript>,
    pub events: EventRelay,
    /// The connection to the user.
    pub ask: Arc<dyn AskUser>,
    /// Characters that its result may have.
    pub result_limit: usize,
    /// The reader of the result sees images in it.
    pub sees_images: bool,
    /// Accesses beyond the sandbox that were approved for this call.
    pub grants: Vec<Grant>,
    /// The rules that the user was asked about, or that an answer or a setting covers.
    pub asked: Vec<String>,
    pub caller: Caller,
}

/// The result of a tool: a JSON value, images, and a flag for failure.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    pub value: Value,
    /// Data URLs, for a reader that sees images.
    pub images: Vec<String>,
    pub failed: bool,
    /// The tool pages by itself, so its result is not cut.
    pub pages_itself: bool,
    /// The cost of auxiliary model calls.
    pub cost: Option<Cost>,
    pub origin: Origin,
}

/// The origin of a result's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    #[default]
    Here,
    /// From the web, or from servers that others run.
    Outside,
}

impl ToolOutput {
    /// An answer in the shape of `value`.
    pub fn json(value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        let (images, origin) = (Vec::new(), Origin::Here);
        Self { value, images, failed: false, pages_itself: false, cost: None, origin }
    }

    pub fn failed_if(mut self, failed: bool) -> Self {
        self.failed = failed;
        self
    }

    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub fn paging_itself(mut self) -> Self {
        self.pages_itself = true;
        self
    }
}

/// The error of a tool. The text is read by the model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct ToolError {
    pub text: String,
    /// Further fields of the result, beside `error`.
    pub details: Map<String, Value>,
}

impl ToolError {
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), details: Map::new() }
    }

    /// An operation on `path` that failed.
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::failed(format!("could not {doing} {}: {error}", path.display()))
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn into_value(self) -> Value {
        let mut map = Map::new();
        map.insert("error".to_owned(), Value::String(self.text));
        map.extend(self.details);
        Value::Object(map)
    }
}

/// Makes an [`AnyTool`] of a [`Tool`].
pub(crate) struct Typed<T> {
    tool: T,
    schema: Schema,
}

impl<T: Tool> Typed<T> {
    pub(crate) fn new(tool: T) -> Self {
        Self { tool, schema: schema_of::<T::Args>() }
    }
}

impl<T: Tool> AnyTool for Typed<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn toolset(&self) -> &str {
        T::TOOLSET.as_str()
    }

    fn definition(&self) -> ToolDefinition {
        self.schema.definition(T::NAME)
    }

    fn schema(&self) -> &Value {
        &self.schema.parameters
    }

    fn facts(&self) -> ToolFacts {
        T::FACTS
    }

    fn unsupported(&self) -> &[(&str, &str)] {
        T::UNSUPPORTED
    }

    fn aliases(&self) -> &[(&str, &str, &str)] {
        T::ALIASES
    }

    fn needs(&self) -> &[(&str, &str)] {
        T::NEEDS
    }

    fn lists(&self) -> &[&str] {
        T::LISTS
    }

    fn is_seldom(&self) -> bool {
        T::SELDOM
    }

    fn bind(self: Arc<Self>, arguments: Map<String, Value>, cx: &ToolContext) -> Result<Bound, Refusal> {
        let args: T::Args = serde_json::from_value(Value::Object(arguments))
            .map_err(|error| Refusal::Invalid(error.to_string()))?;
        if let Some(refusal) = self.tool.refusal(&args, cx) {
            return Err(refusal);
        }
        Ok(Bound {
            effect: self.tool.effect(&args, cx),
            action: self.tool.action(&args, cx),
            concurrency: self.tool.concurrency(&args, cx),
            touches: cx.checkpoints().and_then(|_| self.tool.touches(&args, cx)),
            body: Box::new(move |cx, scope| Box::pin(async move { self.tool.run(args, cx, scope).await })),
        })
    }
}
