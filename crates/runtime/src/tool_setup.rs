//! The setup of the tools of a session, by the settings.

use crate::delegation::CurrentEndpoint;
use crate::session_library::PastSessions;
use crate::session_record::SessionRecord;
use crate::{Runtime, RuntimeError};
use hermes_config::settings::CodeExecutionMode;
use hermes_config::{Config, Refused, Setting, UnsupportedSafety};
use hermes_conversation::{AuxTask, SessionId};
use hermes_exec::child_env;
use hermes_tools::{
    Delegate, Inherited, MACHINE_TOOLSETS, Processes, Registry, SCRIPT_TOOLSETS, ScriptSettings, ToolContext,
    ToolSettings, ToolSetup, VISION_ANALYZE, Vision, Withheld,
};
use hermes_vision::VisionClient;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

/// The parts of the tools of one session that differ between sessions.
pub(crate) struct SessionTools<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) cwd: PathBuf,
    pub(crate) delegate: Option<Arc<dyn Delegate>>,
    pub(crate) processes: Option<Arc<dyn Processes>>,
    pub(crate) vision: Option<Arc<dyn Vision>>,
    /// A user may answer questions.
    pub(crate) is_watched: bool,
    pub(crate) inherited: Inherited,
}

impl<'a> SessionTools<'a> {
    /// Without sub-agents, background processes and a user.
    pub(crate) fn of(session: &'a SessionId, cwd: PathBuf) -> Self {
        let inherited = Inherited::default();
        Self { session, cwd, delegate: None, processes: None, vision: None, is_watched: false, inherited }
    }
}

impl Runtime {
    pub(crate) fn tool_context(&self, tools: SessionTools<'_>) -> Result<Arc<ToolContext>, RuntimeError> {
        let SessionTools { session, cwd, delegate, processes, vision, is_watched, inherited } = tools;
        let passthrough = self.config.settings.terminal.env_passthrough.get()?;
        let shell = self.launch.shell.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok(Arc::new(ToolContext::new(ToolSetup {
            session: session.to_string(),
            delegate,
            memory: Some(self.session_memory(session, is_watched)?),
            skills: Some(self.skills()),
            record: Some(Arc::new(SessionRecord { runtime: self.clone(), session: session.clone() })),
            library: Some(Arc::new(PastSessions { runtime: self.clone(), session: session.clone() })),
            // The files of another place are not saved from here.
            checkpoints: match self.place()? {
                Some(_) => None,
                None => self.session_checkpoints()?,
            },
            processes,
            web: Some(self.web()?),
            vision,
            cwd,
            home: self.launch.home.path().to_owned(),
            user_home: self.launch.shell.get("HOME").map(PathBuf::from),
            scratch: self.launch.home.scratch_dir(),
            backend: self.backend(session)?,
            child_env: match self.place()? {
                Some(far) => far.env.clone(),
                None => child_env(shell, passthrough),
            },
            secrets: self.secrets.clone(),
            fence_key: self.fence_keys(),
            settings: self.tool_settings()?,
            locks: self.locks.clone(),
            safety: self.safety(session)?.inheriting(inherited),
        })))
    }

    /// The models that see images, beside a conversation whose model may change.
    pub(crate) fn vision(&self, session: &SessionId, own: &CurrentEndpoint) -> VisionClient {
        let (runtime, own) = (self.clone(), own.clone());
        let models = move || {
            let own = own.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let found = runtime.models().auxiliary(&own).prepare(AuxTask::Vision);
            found.map_err(|error| error.to_string())
        };
        VisionClient { models: Box::new(models), cooldowns: self.cooldowns.clone(), session: session.clone() }
    }

    /// The same for the tools of a session, if one of them asks these models.
    pub(crate) fn vision_of_tools(
        &self,
        session: &SessionId,
        own: &CurrentEndpoint,
        tools: &Registry,
    ) -> Option<Arc<dyn Vision>> {
        let has_tool = tools.all_names().contains(&VISION_ANALYZE);
        has_tool.then(|| Arc::new(self.vision(session, own)) as Arc<dyn Vision>)
    }

    /// The tools that do not run with the settings.
    fn withheld(&self) -> Result<Vec<Withheld>, RuntimeError> {
        let mut all = withheld(&self.config);
        if let Some(far) = self.place()? {
            let why = format!(
                "commands run in {}, and the calls of a script do not come back from there; use the other tools",
                far.place.label()
            );
            all.push(Withheld { toolsets: SCRIPT_TOOLSETS, why });
        }
        Ok(all)
    }

    fn tool_settings(&self) -> Result<ToolSettings, RuntimeError> {
        let default = ToolSettings::default();
        let settings = &self.config.settings;
        let output = &settings.tool_output;
        Ok(ToolSettings {
            timeout: settings.terminal.timeout.value()?,
            output: number(&output.max_bytes, default.output)?,
            max_lines: number(&output.max_lines, default.max_lines)?,
            max_line_length: number(&output.max_line_length, default.max_line_length)?,
            file_read_max_chars: number(&settings.file_read_max_chars, default.file_read_max_chars)?,
            files_total: self.file_limits()?.max_bytes.unwrap_or(u64::MAX),
            approvals: crate::approvals::policy(settings)?,
            // The folders of another place cannot be read from here.
            folder_hints: !settings.agent.ignore_rules.value()? && self.place()?.is_none(),
            scripts: ScriptSettings {
                timeout: settings.code_execution.timeout.value()?.max(1),
                max_calls: settings.code_execution.max_tool_calls.value()?,
                strict: settings.code_execution.mode.value()? == CodeExecutionMode::Strict,
            },
            withheld: self.withheld()?,
            extract_char_limit: number(&settings.web.extract_char_limit, default.extract_char_limit)?,
            clarify_timeout: settings.agent.clarify_timeout.value()?,
            ..default
        })
    }
}

/// A setting as another type of number; the default if it does not fit.
pub(crate) fn number<T: TryFrom<u64>>(setting: &Setting<u64>, default: T) -> Result<T, RuntimeError> {
    Ok(T::try_from(setting.value()?).unwrap_or(default))
}

/// The tools that are withheld because a safety setting is not supported.
fn withheld(config: &Config) -> Vec<Withheld> {
    let withheld = |promise: UnsupportedSafety| {
        let toolsets = match promise.refused {
            Refused::CommandsAndFiles => MACHINE_TOOLSETS,
            // The session is not started.
            Refused::Run => return None,
        };
        Some(Withheld { toolsets, why: promise.text })
    };
    config.unsupported_safety().into_iter().filter_map(withheld).collect()
}
