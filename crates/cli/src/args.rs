//! The command line, as people and programs type it.

use crate::commands::auth::AuthCommand;
use crate::commands::cache::CacheCommand;
use crate::commands::context::ContextCommand;
use crate::commands::logs::LogsArgs;
use crate::commands::memory::MemoryCommand;
use crate::commands::prompt::PromptCommand;
use crate::commands::replay::ReplayArgs;
use crate::commands::skills::SkillsCommand;
use crate::commands::trace::TraceArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A self-hosted agent: ask, and a model answers with the help of tools on your machine.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    disable_version_flag = true,
    after_help = "Start with `hermes demo` (no key, no network), or connect a model:\n  \
        hermes model\n  \
        hermes"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Flags that may stand before or after a subcommand.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Answer one prompt and print only the final text; `-` reads it from standard input
    #[arg(short = 'z', long = "oneshot", value_name = "PROMPT", global = true)]
    pub(crate) oneshot: Option<String>,
    /// An image to go along with the prompt (PNG, JPEG, GIF, WebP); may be repeated
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) image: Vec<PathBuf>,
    /// Model to use in this run
    #[arg(short, long, global = true)]
    pub(crate) model: Option<String>,
    /// Provider to use in this run; `hermes model list` names them
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) provider: Option<String>,
    /// Tools to offer, by toolset: terminal,file,todo,skills,delegation (`all` = everything)
    #[arg(short, long, value_name = "A,B", value_delimiter = ',', global = true)]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Put the texts of these skills into the system prompt of a new session
    #[arg(short, long, value_name = "A,B", value_delimiter = ',', global = true)]
    pub(crate) skills: Vec<String>,
    /// Continue a session: its id, the start of its id, its title, or `latest`
    #[arg(short, long, value_name = "ID|TITLE", global = true)]
    pub(crate) resume: Option<String>,
    /// Continue the newest session, or the newest with this title
    #[arg(short, long = "continue", value_name = "TITLE", num_args = 0..=1, default_missing_value = "", global = true)]
    pub(crate) continue_: Option<String>,
    /// Model calls in one turn, before a last one without tools
    #[arg(long, value_name = "N", global = true)]
    pub(crate) max_turns: Option<u32>,
    /// Run commands without asking
    #[arg(long, global = true)]
    pub(crate) yolo: bool,
    /// Begin without SOUL.md, files of the project (AGENTS.md ...), memory and skills
    #[arg(long, global = true)]
    pub(crate) ignore_rules: bool,
    /// Tell the model the id of its session
    #[arg(long, global = true)]
    pub(crate) pass_session_id: bool,
    /// Run the hooks in config.yaml without asking first (see docs/hooks.md)
    #[arg(long, global = true)]
    pub(crate) accept_hooks: bool,
    /// Print events as JSON, one per line (see docs/json-events.md)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Write a JSON report of tokens and outcome to this file, also when the run fails
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) usage_file: Option<PathBuf>,
    /// Write everything that this conversation hears to a new file, for `hermes replay` (docs/recording.md)
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) record: Option<PathBuf>,
    /// Tag under which a new session is stored; `tool` hides it from lists
    #[arg(long, value_name = "TAG", global = true)]
    pub(crate) source: Option<String>,
    /// Stay in this folder when continuing a session that was started in another one
    #[arg(long, global = true)]
    pub(crate) no_restore_cwd: bool,
    /// Print the version
    #[arg(short = 'V', long, global = true)]
    pub(crate) version: bool,
}

impl Common {
    /// The first flag that means nothing to a command, if there is one: what is not used would otherwise be
    /// lost without a word.
    pub(crate) fn stray(&self, command: Option<&Command>) -> Option<&'static str> {
        let converses = matches!(
            command,
            None | Some(Command::Chat(_) | Command::Sessions(SessionsCommand::Browse { .. }))
        );
        let is_settings_free = matches!(
            command,
            Some(
                Command::Sessions(_)
                    | Command::Insights(_)
                    | Command::Logs(_)
                    | Command::Trace(_)
                    | Command::Auth(_)
                    | Command::Memory(_)
                    | Command::Cache(_)
                    | Command::Skills(_)
            )
        );
        let of_conversations = [
            (self.oneshot.is_some(), "-z/--oneshot"),
            (!self.image.is_empty(), "--image"),
            (self.resume.is_some(), "--resume"),
            (self.continue_.is_some(), "--continue"),
            (self.usage_file.is_some(), "--usage-file"),
            (self.no_restore_cwd, "--no-restore-cwd"),
        ];
        let of_turns = [
            (self.max_turns.is_some(), "--max-turns"),
            (self.yolo, "--yolo"),
            (self.ignore_rules, "--ignore-rules"),
            (self.pass_session_id, "--pass-session-id"),
            (self.accept_hooks, "--accept-hooks"),
        ];
        let of_conversations = of_conversations.into_iter().filter(|_| !converses);
        let of_turns = of_turns.into_iter().filter(|_| is_settings_free && !converses);
        of_conversations.chain(of_turns).find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk with the model in this terminal (the default)
    Chat(ChatArgs),
    /// See the agent work without a key or a network: the model is scripted, everything else is real
    Demo(DemoArgs),
    /// List, browse, read, search, export, import, rename, archive, delete, count, check or back up stored
    /// sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// What was done in the last days: tokens, costs, models, tools, when, and how it ended
    ///
    /// With --source TAG, only in sessions stored under that tag. With --json, all numbers as one JSON
    /// value.
    ///
    /// Days are days of local time, today included. A message counts for the moment it was written.
    /// Tokens and costs are stored as one sum per session and model: the whole sum counts when the
    /// model was last asked within these days, or, where there is no such sum, when the session was
    /// started within them.
    ///
    /// Cache hits are cache reads divided by everything the models read (fresh input, cache reads and
    /// cache writes). Active time is the time between neighbouring messages of a session, without
    /// pauses over ten minutes; sessions side by side add up.
    Insights(InsightsArgs),
    /// What was spent today, or in a session, and how much of the budget is left
    ///
    /// Limits are settings: budget.day_usd and budget.session_usd, in dollars. No call is made that could
    /// pass one: a call's price is put aside before it is sent, at two bytes of the request to a token and
    /// as many tokens of reply as it may have. With --json, all numbers as one JSON value.
    ///
    /// Days are days of local time. What was put aside for calls that broke off counts as spent, since
    /// they may have been billed.
    Budget(BudgetArgs),
    /// What was logged: model calls, tools, retries, credentials, and what went wrong
    ///
    /// Reads logs/agent.log of the home and the files it was put away in, oldest first. There are no
    /// prompts, arguments or results in it, and secrets are taken out before anything is written. With
    /// --json, one JSON value per line. logging.level says how much is logged.
    Logs(LogsArgs),
    /// One turn on a time axis: model calls, tools, retries and waits, with tokens and costs
    ///
    /// The numbers come from the session store, so they are there after a crash, too. Without a session,
    /// the newest one; without --turn, its newest turn. With --json, all of it as one JSON value.
    Trace(TraceArgs),
    /// Run a recorded conversation again, offline, and say whether anything is different
    ///
    /// `hermes --record FILE` makes recordings. A replay goes through the same code as the run did: the
    /// model's bytes, the results of tools, answers, times and random numbers come from the file, and
    /// every request, event and stored message is compared with it. Nothing is sent, no tool runs, and
    /// your home is left alone. Exit code 0 means identical, 1 means different.
    ///
    /// With --from N, the first N-1 model calls come from the file; from there on the model that is
    /// configured (or given with --model) answers and real tools run, in a new session of your home.
    /// Nobody is asked there: commands that need approval are not run, unless --yolo is given.
    /// With --list, the model calls, to choose N from. With --json, the outcome as one JSON value.
    Replay(ReplayArgs),
    /// Which model is used: choose one, list providers and models, see what is used and why
    ///
    /// Without a subcommand, a list to choose from. Needs a terminal.
    Model {
        #[command(subcommand)]
        command: Option<ModelCommand>,
    },
    /// Stored credentials: list, add, remove or reset them, see which one would be used
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Read and change settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Programs of your own that run at moments of a turn: list them, take consent back
    #[command(subcommand)]
    Hooks(HooksCommand),
    /// What is remembered across sessions: look at it, change it, see who changed what, take it back
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// What the model is told before you speak: look at it, weigh it, check texts before they become part of it
    #[command(subcommand)]
    Prompt(PromptCommand),
    /// How a session keeps inside its model's window, and what was said before it was summed up
    #[command(subcommand)]
    Context(ContextCommand),
    /// What the provider kept of the prompts of a session, and what it had to read again
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Instructions for kinds of tasks: list, read, install, remove, switch on and off, check, update
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// Check the home folder, the settings, the session store and the model
    Doctor,
    /// Print a completion script for a shell
    Completion { shell: Shell },
    /// Print the version
    Version,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChatArgs {
    /// Ask one question and leave; `-` reads it from standard input
    #[arg(short, long, value_name = "PROMPT")]
    pub(crate) query: Option<String>,
    /// With -q: print only the answer
    #[arg(short = 'Q', long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Keep the demo's folder and say where it is
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct InsightsArgs {
    /// How many days to look back, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) days: u32,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BudgetArgs {
    /// What this session cost, on whichever days: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// The newest sessions, one line per conversation
    ///
    /// With --source TAG, only those stored under that tag. A conversation that went on under a new
    /// id is listed once, under that id. Archived sessions, and those of helpers, are left out.
    List {
        /// Lines to show
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Lines to skip
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: usize,
        /// Leave out sessions stored under this tag; may be given several times
        #[arg(long, value_name = "TAG")]
        exclude_source: Vec<String>,
        /// Only archived sessions
        #[arg(long)]
        archived: bool,
        /// Every session by itself, those of helpers included
        #[arg(long)]
        children: bool,
    },
    /// Choose a session to go on with, searching while you type
    ///
    /// What you type filters the titles, first words and ids, and is looked for in all messages.
    /// Enter goes on with the session, Tab shows its last messages, Esc clears the search and then
    /// leaves. With --source TAG, only those stored under that tag. With --json, the list for
    /// programs, as `list --json` prints it.
    Browse {
        /// How many of the newest sessions to list; the search looks into all
        #[arg(long, default_value_t = 500)]
        limit: usize,
    },
    /// One session, in full
    Show {
        /// Id, start of an id, title, or `latest`
        session: String,
    },
    /// Sessions with their messages, one per line; `-` is standard output
    ///
    /// `import` brings back all of it, on this machine or another one. Long tool results are in files of
    /// their own: with --files they are copied to FILE.files/, where `import` looks for them. With
    /// --source TAG, only sessions stored under that tag.
    Export {
        file: String,
        /// Only this session: id, start of an id, title, or `latest`
        #[arg(long, value_name = "ID")]
        session_id: Option<String>,
        /// With --session-id: the sessions it comes from, too
        #[arg(long, requires = "session_id")]
        lineage: bool,
        /// A line per session, or one array
        #[arg(long, value_enum, default_value = "jsonl")]
        format: SessionsFormat,
        /// Copy the files of long tool results to FILE.files/
        #[arg(long)]
        files: bool,
    },
    /// Give a session a title
    Rename {
        session: String,
        #[arg(required = true, num_args = 1..)]
        title: Vec<String>,
    },
    /// Hide a session from lists; everything said in it stays
    ///
    /// It can still be searched, shown, exported and resumed. `list --archived` shows what is hidden.
    Archive {
        /// Id, start of an id, title, or `latest`
        session: String,
        /// Show it in lists again
        #[arg(long)]
        undo: bool,
    },
    /// Delete a session for good
    Delete {
        session: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Find messages: words, "phrases", OR, NOT, prefix*
    ///
    /// Signs inside a word count (`C++`, `user@example.com`, `main.rs`), those around it do not.
    /// When nothing is exactly so, hits that differ in punctuation are shown. Any part of a word is
    /// found in scripts without spaces. With --source TAG, only in sessions stored under that tag.
    /// With --json, every hit comes with the message before and the one after.
    Search(SearchArgs),
    /// Sessions, messages, tool calls and tokens: in all, by model, by source, by day
    ///
    /// A session counts for the day on which it was started.
    Stats,
    /// Add sessions from a file that `export` wrote; `-` is standard input
    ///
    /// JSONL or a JSON array. Sessions whose id is already stored are skipped. A session that
    /// cannot be read is named by its line and nothing of it is written. At most 500 sessions,
    /// 50,000 messages and 25 MiB at once; 10,000 messages and 5 MiB per session. Files of long
    /// tool results are taken from FILE.files/, if it is there.
    Import { file: String },
    /// Show what an imported session brought along, and use it from now on
    ///
    /// The system prompt, tool settings, folder and waiting messages of an import are not used when it is
    /// resumed: it gets a fresh prompt here. Run this before the first resume to keep them.
    Trust {
        /// Id, start of an id, title, or `latest`
        session: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Delete old sessions for good
    ///
    /// An ended session goes when its last message is that old. Sessions in use stay. With --source TAG, only those stored under that tag.
    Prune {
        /// Age in days
        #[arg(long, value_name = "DAYS", default_value_t = 90)]
        older_than: u32,
        /// Also delete sessions that have not ended, such as those of killed processes
        #[arg(long)]
        all: bool,
        /// Only list what would go
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// The files that long tool results are kept in: list them, or remove old ones
    ///
    /// A file is named after its bytes and kept once. It goes with the last session that mentions
    /// it. Without a subcommand, the list.
    Files {
        #[command(subcommand)]
        command: Option<FilesCommand>,
    },
    /// Build the search index anew, also when it is damaged or missing
    ///
    /// Sessions can be used meanwhile. If it is stopped, searching goes on with the rest.
    Reindex,
    /// Merge the search index and give unused space back
    ///
    /// Refused while another process has a session open.
    Optimize,
    /// Copy the session database to a file while it is in use
    Backup {
        file: PathBuf,
        /// Replace a file of that name
        #[arg(long)]
        force: bool,
    },
    /// Check that everything stored is whole; changes nothing
    ///
    /// Ends with 1 when something is wrong.
    Verify,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum FilesCommand {
    /// Every file: its size, when it was last written, the sessions that mention it
    List,
    /// Remove files for good
    ///
    /// Without --older-than, --max-mb and --orphans, by the settings `sessions.files_retention_days`
    /// and `sessions.files_max_mb`; that is also done by itself, once a day. What a session at work
    /// may need stays. A message that mentions a removed file stays as it is.
    Prune(FilesPruneArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FilesPruneArgs {
    /// Those last written more days ago than this
    #[arg(long, value_name = "DAYS")]
    pub(crate) older_than: Option<u32>,
    /// The oldest, until the rest has at most so many MiB
    #[arg(long, value_name = "N")]
    pub(crate) max_mb: Option<u32>,
    /// Those that no stored message mentions
    #[arg(long)]
    pub(crate) orphans: bool,
    /// Only list what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    #[arg(required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Hits to pass over first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Order of the hits
    #[arg(long, value_enum, default_value = "rank")]
    pub(crate) sort: SearchSort,
    /// Only what this side said
    #[arg(long, value_parser = ["user", "assistant", "tool", "system"])]
    pub(crate) role: Option<String>,
    /// Only in this session: id, start of an id, title, or `latest`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Not in sessions stored under this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub(crate) exclude_source: Vec<String>,
    /// Only from this time on: 2026-11-15, "2026-11-15 09:30", or 12h, 7d, 2w for so long ago
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionsFormat {
    Jsonl,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchSort {
    /// The best first
    Rank,
    Newest,
    Oldest,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// The providers, their formats and addresses, and whether their key was found
    ///
    /// With a PROVIDER (or the name of an entry of `custom_providers`), the models that it has: its
    /// address is asked, with its own key. AI Gateway's list has only models that can use tools.
    List {
        #[arg(value_name = "PROVIDER")]
        of: Option<String>,
        /// Also those that cannot be used yet, with the reason
        #[arg(long)]
        all: bool,
    },
    /// What is configured; a server on this machine is asked for its window
    Show,
    /// Save the choice of a provider, a model, or both
    ///
    /// `hermes model set openrouter/vendor/name` sets both, `hermes model set deepseek` the provider,
    /// `hermes model set name` the model. With --provider NAME, the words are the model's name as it
    /// is. An address and a key that belong to another provider are taken out of config.yaml.
    Set {
        #[arg(value_name = "PROVIDER[/MODEL] or MODEL")]
        choice: String,
        /// Take a model.api_key that belongs to the old address out without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// What would be used now, and why; no key is shown
    ///
    /// Try another choice with --provider NAME and -m NAME. Nothing is connected.
    Resolve,
    /// Who does the small jobs beside a conversation: images, summaries, titles and more
    ///
    /// For each job the models that are asked, in order, until one answers. Change them with
    /// `hermes config set auxiliary.JOB.provider NAME` (`auto`, `main`, or a provider) and
    /// auxiliary.JOB.model. Nothing is connected. This version gives out title_generation; the others are
    /// read and checked.
    Tasks {
        /// Only this job, with the reason for each model
        #[arg(value_name = "JOB")]
        task: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// The value in force
    Get { key: String },
    /// Change a setting; names such as OPENAI_API_KEY go to .env
    Set { key: String, value: String },
    /// Back to the default
    Unset { key: String },
    /// What differs from the defaults; `--all` shows every setting
    Show {
        #[arg(long)]
        all: bool,
    },
    /// Where the settings file is
    Path,
    /// The value of a setting, where it comes from, and its default
    Explain { key: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum HooksCommand {
    /// What config.yaml runs at which event, and whether you approved it
    ///
    /// `changed` means that the script was changed since you approved it: you are asked again. With --json,
    /// all of it as one JSON value.
    List,
    /// Take an approval back; you are asked again before the hook runs
    Revoke {
        /// The command, word for word as in config.yaml
        command: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}
