//! `hermes model`: the choice of the model.
//!
//! `providers` resolves the choice; these commands show, list and save it. Showing creates no home directory, and
//! no key is printed: only its source.

mod facts;
mod list;
mod models;
mod parse_choice;
mod pick;
mod set;
pub(crate) mod show;
mod tasks;

use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::{Common, ModelFlags};
use crate::launch;
use clap::{Args, Subcommand};
use hermes_config::Config;
use hermes_runtime::{Endpoint, Fallbacks, KeySource, fallbacks, model_choice, model_facts, shown_url};
use hermes_terminal::print;
use serde_json::{Value, json};

/// Choose the model, list providers and models, explain the choice
///
/// Without a subcommand, pick from a list in the terminal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes model
  hermes model list openrouter
  hermes model set openrouter/vendor/name
  hermes model resolve --provider deepseek")]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: Option<ModelCommand>,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// List the providers with formats, addresses and keys found, or the models of one
    ///
    /// With PROVIDER (or the name of a `custom_providers` entry), requests the list of models from its address, with
    /// its key. AI Gateway lists only models that can use tools.
    List {
        /// List the models of this provider
        #[arg(value_name = "PROVIDER")]
        of: Option<String>,
        /// Include providers that cannot be used yet, with the reason
        #[arg(long)]
        all: bool,
    },
    /// Show the configured model; asks a local server for its context window
    Show(ModelFlags),
    /// Save the choice of a provider, a model, or both
    ///
    /// `hermes model set openrouter/vendor/name` sets both, `hermes model set deepseek` the provider, `hermes model
    /// set name` the model. With --provider, the argument is the model's exact name. An address and a key of another
    /// provider are removed from config.yaml.
    Set {
        /// Provider, model, or both
        #[arg(value_name = "PROVIDER[/MODEL] or MODEL")]
        choice: String,
        /// Provider to save; the argument is then the model's exact name
        #[arg(long, value_name = "NAME")]
        provider: Option<String>,
        /// Remove a model.api_key of the old address without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Show the model, address and credential in effect, and why; sends nothing
    ///
    /// Try another choice with --provider and -m. No key is shown.
    Resolve(ModelFlags),
    /// Show the models of auxiliary tasks: images, summaries, titles and more
    ///
    /// For each task, lists the models that are called, in order, until one answers. Change them with `hermes config
    /// set auxiliary.TASK.provider NAME` (`auto`, `main`, or a provider) and auxiliary.TASK.model. Nothing is sent.
    /// This version runs title_generation; the other tasks are only checked.
    Tasks {
        /// Show only this task, with the reason for each model
        #[arg(value_name = "TASK")]
        task: Option<String>,
        #[command(flatten)]
        model: ModelFlags,
    },
}

impl ModelArgs {
    /// The shared flags after the subcommand.
    pub(crate) fn flags(&self) -> Common {
        let model = match &self.command {
            Some(
                ModelCommand::Show(model) | ModelCommand::Resolve(model) | ModelCommand::Tasks { model, .. },
            ) => model.clone(),
            Some(ModelCommand::Set { provider, .. }) => ModelFlags { provider: provider.clone(), name: None },
            Some(ModelCommand::List { .. }) | None => ModelFlags::default(),
        };
        Common { model, ..Common::default() }
    }
}

pub(crate) async fn run(args: ModelArgs, common: &Common) -> Result<Exit, Failure> {
    match args.command {
        None => pick::run(common).await,
        Some(ModelCommand::List { of: Some(provider), .. }) => models::run(&provider, common).await,
        Some(ModelCommand::List { of: None, all }) => list::run(all, common),
        Some(ModelCommand::Show(_)) => Box::pin(show::run(common)).await,
        Some(ModelCommand::Set { choice, yes, .. }) => set::run(&choice, yes, common),
        Some(ModelCommand::Resolve(_)) => resolve(common),
        Some(ModelCommand::Tasks { task, .. }) => tasks::run(task.as_deref(), common),
    }
}

fn resolve(common: &Common) -> Result<Exit, Failure> {
    let config = read(common)?;
    let found = model_choice::endpoint(&config);
    let endpoint = found.map_err(|error| launch::blame_flags(error, common))?;
    if common.json {
        let mut all = endpoint_json(&endpoint);
        let stops: Vec<Value> = fallbacks(&config, &endpoint)?.stops.iter().map(endpoint_json).collect();
        all["fallbacks"] = json!(stops);
        print::json(&all);
        return Ok(Exit::Answered);
    }
    let values = [
        ("provider", endpoint.label()),
        ("base_url", shown_url(&endpoint.base_url)),
        ("key", key_text(&endpoint.key_source)),
        ("model", endpoint.model.clone()),
        ("api_mode", endpoint.mode.as_str().to_owned()),
    ];
    print::fields(values.map(|(what, value)| {
        let why = endpoint.reasons.iter().find(|reason| reason.what == what);
        (what, format!("{value}{}", why.map(|reason| format!("  ({})", reason.why)).unwrap_or_default()))
    }));
    let fallbacks = fallback_lines(&config, &endpoint)?.into_iter();
    print::fields(fallbacks.map(|(name, key)| ("then", format!("{name}  ({key})"))));
    print::fields(facts::lines(&model_facts::known(&launch::home()?, &endpoint), endpoint.provider));
    Ok(Exit::Answered)
}

/// The fallback models with the sources of their keys; prints notices about invalid entries.
fn fallback_lines(config: &Config, own: &Endpoint) -> Result<Vec<(String, String)>, Failure> {
    let Fallbacks { stops, warnings } = fallbacks(config, own)?;
    for warning in warnings {
        print::notice(&warning);
    }
    let line = |stop: &Endpoint| (format!("{}/{}", stop.label(), stop.model), stop.key_source.to_string());
    Ok(stops.iter().map(line).collect())
}

/// The source of a key, in short.
fn key_text(source: &KeySource) -> String {
    match source {
        KeySource::None => "none".to_owned(),
        KeySource::Variable(name) => (*name).to_owned(),
        KeySource::EntryVariable(name) => name.clone(),
        KeySource::VendorFile { tool, .. } => format!("login of {tool}"),
        other => other.to_string(),
    }
}

/// An endpoint for programs, without its key.
fn endpoint_json(endpoint: &Endpoint) -> Value {
    let reasons: serde_json::Map<String, Value> =
        endpoint.reasons.iter().map(|reason| (reason.what.to_owned(), json!(reason.why))).collect();
    json!({
        "provider": endpoint.label(),
        "base_url": shown_url(&endpoint.base_url),
        "origin": endpoint.origin(),
        "model": endpoint.model,
        "api_mode": endpoint.mode.as_str(),
        "key": key_json(&endpoint.key_source),
        "context_length": endpoint.context_length,
        "max_tokens": endpoint.max_tokens,
        "reasons": reasons,
    })
}

fn key_json(source: &KeySource) -> Value {
    json!({ "found": *source != KeySource::None, "source": key_text(source) })
}
