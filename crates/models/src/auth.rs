//! Stored credentials for `hermes auth`: list, add, remove and reset. No secret is returned.

use crate::ModelsError;
use crate::credentials::{seeds, strategy};
use crate::model_choice::with_lookups;
use hermes_config::Config;
use hermes_guard::{Secrets, redact};
use hermes_providers::credentials::{
    AuthError, AuthFile, Availability, Choosing, Entry, LastError, NewEntry, NewLogin, NoSuchEntry, Pool,
    choose,
};
use hermes_providers::login::{self, Flow, FlowError, Tokens};
use hermes_providers::{
    CustomProvider, ResolveError, custom_label, custom_name, find_provider, is_custom_id, own_address,
    parse_base_url, shown_url,
};
use secrecy::SecretString;

/// An error of `hermes auth`.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error(transparent)]
    File(#[from] AuthError),
    #[error(transparent)]
    NoSuchEntry(#[from] NoSuchEntry),
    #[error(
        "`custom` has no address that a key could belong to; give the endpoint a name under \
         `custom_providers` in config.yaml and use that"
    )]
    NoAddress,
    #[error("provider {provider} takes no API key: {why}")]
    NoApiKey { provider: &'static str, why: String },
    #[error(transparent)]
    Flow(#[from] FlowError),
    #[error("the key is empty")]
    EmptyKey,
    #[error("the key has a space or a line break in it; give it alone, on one line")]
    NotOneWord,
}

/// The credentials of one provider.
#[derive(Debug, Clone)]
pub struct PoolView {
    pub provider: String,
    pub strategy: &'static str,
    pub entries: Vec<EntryView>,
}

/// One credential, without its secrets.
#[derive(Debug, Clone)]
pub struct EntryView {
    /// Position in the list, from 1.
    pub number: usize,
    pub id: String,
    pub label: String,
    pub auth_type: &'static str,
    pub source: String,
    /// At most the last four characters.
    pub key: String,
    pub base_url: Option<String>,
    pub availability: Availability,
    pub last_error: LastError,
    pub request_count: u64,
    /// True for the credential that a new session would use.
    pub is_next: bool,
}

/// Returns the stored credentials of a provider, or of all, including those in variables.
pub fn list(config: &Config, provider: Option<&str>) -> Result<Vec<PoolView>, ModelsError> {
    let data = file(config)?.read().map_err(CredentialError::from)?;
    let stored = data.providers().into_iter().map(str::to_owned);
    let wanted: Vec<String> = match provider {
        Some(name) => vec![label_of(config, name)?],
        None => stored.collect(),
    };
    let (now, secrets) = (config.layers().credentials.now(), config.secrets());
    let view = |provider: String| {
        let strategy = strategy(config, &provider);
        let pool = Pool::of(&data, &provider, &seeds(config, &provider));
        let next = choose(&pool.entries, &Choosing { strategy, now, random: 0.0, taken: &|_| 0 });
        let next = next.map(|entry| entry.id.clone());
        let entries = pool.entries.iter().enumerate();
        let entries = entries.map(|(at, entry)| view_of(entry, at, now, next.as_deref(), &secrets)).collect();
        PoolView { strategy: strategy.as_str(), provider, entries }
    };
    Ok(wanted.into_iter().map(view).collect())
}

/// Adds a key, bound to the current address of its provider.
pub fn add(
    config: &Config,
    provider: &str,
    label: Option<String>,
    key: SecretString,
) -> Result<(String, EntryView), ModelsError> {
    use secrecy::ExposeSecret;
    let key = SecretString::from(key.expose_secret().trim());
    match key.expose_secret() {
        "" => return Err(CredentialError::EmptyKey.into()),
        text if text.contains(char::is_whitespace) => return Err(CredentialError::NotOneWord.into()),
        _ => {}
    }
    let name = label_of(config, provider)?;
    let base_url = address(config, &name, &key)?;
    let credentials = &config.layers().credentials;
    let now = credentials.now();
    let seed = format!("{name} {now} {}", credentials.random());
    let label = label.filter(|label| !label.trim().is_empty());
    let added = file(config)?.change(now, |data| {
        let entry = data.add(&name, NewEntry { label, key, base_url: Some(base_url) }, &seed);
        let at = Pool::of(data, &name, &seeds(config, &name)).entries.iter().position(|it| it.id == entry.id);
        view_of(&entry, at.unwrap_or(0), now, None, &Secrets::default())
    });
    Ok((name, added.map_err(CredentialError::from)?))
}

/// Returns the login flow of a provider, and the name that its credentials are stored under.
pub fn login_flow(config: &Config, provider: &str) -> Result<(String, Flow), ModelsError> {
    let name = label_of(config, provider)?;
    let flow = login::login_flow(&name, &config.login_overrides(&name)?).map_err(CredentialError::from)?;
    Ok((name, flow))
}

/// Stores the tokens of a login, bound to the current address of its provider.
pub fn store_login(
    config: &Config,
    provider: &str,
    label: Option<String>,
    flow: &Flow,
    tokens: Tokens,
) -> Result<EntryView, ModelsError> {
    let base_url = address(config, provider, &tokens.access)?;
    let credentials = &config.layers().credentials;
    let now = credentials.now();
    let seed = format!("{provider} {now} {}", credentials.random());
    let label = label.filter(|label| !label.trim().is_empty()).unwrap_or_else(|| "login".to_owned());
    let source = match flow {
        Flow::Device(_) => "manual:device_code",
        Flow::Browser(_) => "manual:pkce",
    };
    let new = NewLogin { label, source, tokens: tokens.into(), base_url };
    let added = file(config)?.change(now, |data| {
        let entry = data.add_login(provider, new, &seed, now);
        let pool = Pool::of(data, provider, &seeds(config, provider));
        let at = pool.entries.iter().position(|it| it.id == entry.id);
        view_of(&entry, at.unwrap_or(0), now, None, &Secrets::default())
    });
    Ok(added.map_err(CredentialError::from)?)
}

/// Removes all logins of a provider, and returns the provider and their number.
pub fn logout(config: &Config, provider: &str) -> Result<(String, usize), ModelsError> {
    let provider = label_of(config, provider)?;
    let now = config.layers().credentials.now();
    let count = file(config)?.change(now, |data| data.forget_logins(&provider));
    Ok((provider, count.map_err(CredentialError::from)?))
}

/// A removed credential.
#[derive(Debug, Clone)]
pub struct Removed {
    pub provider: String,
    pub label: String,
    /// The source that is ignored from now on, for a key that is stored elsewhere.
    pub suppressed: Option<String>,
}

/// Removes a credential by its number, id or label.
pub fn remove(config: &Config, provider: &str, target: &str) -> Result<Removed, ModelsError> {
    let provider = label_of(config, provider)?;
    let removed = file(config)?.change(config.layers().credentials.now(), |data| {
        let pool = Pool::of(data, &provider, &seeds(config, &provider));
        let entry = pool.find(&provider, target)?;
        data.remove(entry);
        let suppressed = entry.is_borrowed().then(|| entry.source.clone());
        Ok(Removed { provider: provider.clone(), label: entry.label.clone(), suppressed })
    });
    let removed: Result<Removed, NoSuchEntry> = removed.map_err(CredentialError::from)?;
    Ok(removed.map_err(CredentialError::from)?)
}

/// Clears cooldowns and re-enables credentials, and returns the provider and their number.
pub fn reset(config: &Config, provider: &str) -> Result<(String, usize), ModelsError> {
    let provider = label_of(config, provider)?;
    let now = config.layers().credentials.now();
    let count = file(config)?.change(now, |data| data.forget_marks(&provider));
    Ok((provider, count.map_err(CredentialError::from)?))
}

fn file(config: &Config) -> Result<&AuthFile, ModelsError> {
    let no_home = || ModelsError::Home(hermes_config::home::HomeError::NoHome);
    config.layers().credentials.file().ok_or_else(no_home)
}

/// Returns the name under which the credentials of a provider are stored.
pub fn label_of(config: &Config, name: &str) -> Result<String, ModelsError> {
    let plain = CustomProvider::plain_name(custom_name(name).unwrap_or(name));
    let named = &config.settings.providers.get()?.entries;
    let is_named = named.iter().any(|entry| entry.name == plain);
    let custom = custom_label(&plain);
    let credentials = &config.layers().credentials;
    match find_provider(name) {
        Some(provider) if !provider.is_custom() || is_custom_id(name) => Ok(provider.id.to_owned()),
        _ if is_named || credentials.has(&custom) => Ok(custom),
        // Stored by another version, under a name that this one does not know.
        _ if credentials.has(name) => Ok(name.to_owned()),
        _ => Err(ResolveError::UnknownProvider { name: name.to_owned() }.into()),
    }
}

/// The address that a new key belongs to.
fn address(config: &Config, label: &str, key: &SecretString) -> Result<String, ModelsError> {
    let text = match find_provider(label) {
        Some(provider) => {
            let takes_none = provider.not_yet().filter(|_| provider.key_env.is_empty());
            if let Some(why) = takes_none {
                let (provider, why) = (provider.id, why.to_owned());
                return Err(CredentialError::NoApiKey { provider, why }.into());
            }
            with_lookups(config, |lookups| own_address(provider, key, lookups))
        }
        None => {
            let mut entries = config.settings.providers.get()?.entries.iter();
            entries.find(|entry| custom_name(label) == Some(&entry.name)).map(|entry| entry.base_url.clone())
        }
    };
    let text = text.ok_or(CredentialError::NoAddress)?;
    parse_base_url(&text)?;
    Ok(text)
}

fn view_of(entry: &Entry, at: usize, now: f64, next: Option<&str>, secrets: &Secrets) -> EntryView {
    let clean = |text: &String| redact(secrets, text).into_owned();
    let shown = |text: &String| parse_base_url(text).map_or_else(|_| clean(text), |url| shown_url(&url));
    let error = &entry.last_error;
    EntryView {
        number: at + 1,
        id: entry.id.clone(),
        label: entry.label.clone(),
        auth_type: entry.auth_type.as_str(),
        source: entry.source.clone(),
        key: entry.shown_key(),
        base_url: entry.base_url.as_ref().map(shown),
        availability: entry.availability(now),
        // Other programs write these as well.
        last_error: LastError {
            message: error.message.as_ref().map(clean),
            reason: error.reason.as_ref().map(clean),
            ..error.clone()
        },
        request_count: entry.request_count,
        is_next: next == Some(entry.id.as_str()),
    }
}
