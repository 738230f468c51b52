//! Settings of the web tools, and the choice of a service.

use crate::backends::{Backend, DIRECT, Variables, table, variables};
use hermes_config::{Config, ConfigError};
use std::path::PathBuf;

/// Settings of the web tools.
#[derive(Debug, Clone, Default)]
pub struct WebSettings {
    /// `web.backend`; empty if not set, as the next two.
    pub backend: String,
    /// `web.search_backend`
    pub search_backend: String,
    /// `web.extract_backend`
    pub extract_backend: String,
    /// Variables of the services; see [`variables`](crate::variables).
    pub variables: Variables,
    /// `security.allow_private_urls`
    pub allows_private: bool,
    /// `sandbox.network`
    pub network: Network,
    pub blocklist: BlocklistSettings,
}

impl WebSettings {
    /// The services and their variables, as the settings have them; everything else is at its default.
    pub fn services(config: &Config) -> Result<Self, ConfigError> {
        let web = &config.settings.web;
        let variable = |name: &str| config.variable(name).map(|value| (name.to_owned(), value.to_owned()));
        Ok(Self {
            backend: web.backend.get()?.as_deref().unwrap_or_default().to_owned(),
            search_backend: web.search_backend.get()?.as_deref().unwrap_or_default().to_owned(),
            extract_backend: web.extract_backend.get()?.as_deref().unwrap_or_default().to_owned(),
            variables: variables().filter_map(variable).collect(),
            ..Self::default()
        })
    }
}

/// The hosts that may be reached, `sandbox.network`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    #[default]
    On,
    Off,
    /// These hosts, and with `*.` those below a name.
    Hosts(Vec<String>),
}

/// `security.website_blocklist`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlocklistSettings {
    pub is_enabled: bool,
    pub domains: Vec<String>,
    /// Files with a domain on each line.
    pub files: Vec<PathBuf>,
}

/// The service that searches: the one of the settings, else the first that can be used.
pub(crate) fn search_backend(settings: &WebSettings) -> Result<&'static Backend, String> {
    let (key, id) = stated(settings, "web.search_backend", &settings.search_backend);
    if id.is_empty() || id == DIRECT {
        let usable = |row: &&Backend| row.search.is_some() && row.problem(&settings.variables).is_none();
        return table().iter().find(usable).ok_or_else(|| "no service for searching is set up".to_owned());
    }
    let row = Backend::find(id).ok_or_else(|| unknown(key, id))?;
    if row.search.is_none() {
        return Err(format!("{key} is {id}, which cannot search"));
    }
    row.problem(&settings.variables).map_or(Ok(row), Err)
}

/// The service that extracts: the one of the settings if it can, else the first that can be used; `None` for the built-in
/// extractor.
pub(crate) fn extract_backend(settings: &WebSettings) -> Result<Option<&'static Backend>, String> {
    let (key, id) = stated(settings, "web.extract_backend", &settings.extract_backend);
    if id == DIRECT {
        return Ok(None);
    }
    let usable = |row: &&Backend| row.extract.is_some() && row.problem(&settings.variables).is_none();
    if id.is_empty() {
        return Ok(table().iter().find(usable));
    }
    let row = Backend::find(id).ok_or_else(|| unknown(key, id))?;
    match row.problem(&settings.variables) {
        // A service that only searches leaves the pages to the built-in extractor.
        _ if row.extract.is_none() => Ok(None),
        Some(problem) => Err(problem),
        None => Ok(Some(row)),
    }
}

/// The key and the value that decide.
fn stated<'a>(settings: &'a WebSettings, key: &'static str, own: &'a str) -> (&'static str, &'a str) {
    match own.trim() {
        "" => ("web.backend", settings.backend.trim()),
        own => (key, own),
    }
}

fn unknown(key: &str, id: &str) -> String {
    let known: Vec<&str> = table().iter().map(|row| row.id).collect();
    format!("{key} is `{id}`, which is not built in; use {} or {DIRECT} (pages only)", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_follows_settings_and_variables() {
        let tavily = ("TAVILY_API_KEY", "k");
        let (brave, searxng) = (("BRAVE_SEARCH_API_KEY", "k"), ("SEARXNG_URL", "http://h"));
        // backend, search_backend, extract_backend, variables, search, extract
        for (backend, search, extract, variables, want_search, want_extract) in [
            ("", "", "", vec![], "ddgs", "direct"),
            ("", "", "", vec![tavily, brave], "tavily", "tavily"),
            ("", "", "", vec![brave], "brave-free", "direct"),
            ("", "", "", vec![brave, searxng], "searxng", "direct"),
            ("searxng", "", "", vec![searxng, tavily], "searxng", "direct"),
            ("tavily", "brave-free", "direct", vec![tavily, brave], "brave-free", "direct"),
            ("direct", "", "", vec![tavily], "tavily", "direct"),
            ("exa", "", "", vec![tavily], "EXA_API_KEY", "EXA_API_KEY"),
            ("searxng", "", "", vec![], "SEARXNG_URL", "direct"),
            ("xai", "", "", vec![], "not built in", "not built in"),
            (" Tavily ", "", "", vec![tavily], "tavily", "tavily"),
        ] {
            let settings = WebSettings {
                backend: backend.to_owned(),
                search_backend: search.to_owned(),
                extract_backend: extract.to_owned(),
                variables: variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
                ..WebSettings::default()
            };
            let found = search_backend(&settings).map_or_else(|why| why, |row| row.id.to_owned());
            let pages = extract_backend(&settings);
            let pages = pages.map_or_else(|why| why, |row| row.map_or(DIRECT, |row| row.id).to_owned());
            assert!(found.contains(want_search), "{backend} {variables:?}: {found}");
            assert!(pages.contains(want_extract), "{backend} {variables:?}: {pages}");
        }
    }
}
