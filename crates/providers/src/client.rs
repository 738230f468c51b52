//! The HTTP clients of the process, built on first use.
//!
//! There are two: one for plain http, which never loads certificate roots (that costs more than a whole request),
//! and one for https. Both follow no redirects and ask for no compression; their proxy comes from settings, never
//! from the environment.

use crate::{AddressGuard, Deadlines, TimeLimits, TlsOptions};
use hermes_wire::Failure;
use reqwest::{Certificate, Client, Proxy, redirect};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use url::Url;

/// The settings of the clients.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    pub proxy: Option<String>,
    /// Hosts that are reached directly, separated by commas; loopback always is.
    pub no_proxy: Option<String>,
    pub time_limits: TimeLimits,
    /// Judges every address before a connection to it. A proxy resolves names itself.
    pub guard: Option<Arc<AddressGuard>>,
}

/// One kept-alive client per scheme.
#[derive(Debug, Clone, Default)]
pub struct HttpClients {
    settings: HttpSettings,
    tls: TlsOptions,
    plain: Arc<OnceLock<Client>>,
    secure: Arc<OnceLock<Client>>,
}

/// Chooses the TLS implementation; called once, before any client is used.
pub fn install_tls() {
    // A second call finds the same choice.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl HttpClients {
    pub fn new(settings: HttpSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Clients with the same settings whose connections are judged. The host of a proxy is exempt.
    pub(crate) fn guarded(&self, guard: &AddressGuard) -> Self {
        let guard = match self.proxy() {
            Some(proxy) => guard.exempting(proxy),
            None => guard.clone(),
        };
        Self::new(HttpSettings { guard: Some(Arc::new(guard)), ..self.settings.clone() })
    }

    /// The proxy of the settings.
    pub(crate) fn proxy(&self) -> Option<&str> {
        self.settings.proxy.as_deref().filter(|proxy| !proxy.is_empty())
    }

    /// Returns the clients for an endpoint with these certificates: these ones, unless it has its own.
    pub fn with_tls(&self, tls: &TlsOptions) -> Self {
        match *tls == self.tls {
            true => self.clone(),
            false => Self { tls: tls.clone(), secure: Arc::default(), ..self.clone() },
        }
    }

    /// Returns the time limits of the settings.
    pub fn time_limits(&self) -> TimeLimits {
        self.settings.time_limits
    }

    /// Returns the client for an address.
    pub fn of(&self, url: &Url) -> Result<Client, Failure> {
        let (slot, secure) = match url.scheme() {
            "https" => (&self.secure, true),
            _ => (&self.plain, false),
        };
        if let Some(client) = slot.get() {
            return Ok(client.clone());
        }
        let client = self.build(secure)?;
        Ok(slot.get_or_init(|| client).clone())
    }

    fn build(&self, secure: bool) -> Result<Client, Failure> {
        install_tls();
        let mut builder = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(Deadlines::connect())
            .pool_idle_timeout(Duration::from_secs(90))
            .tcp_nodelay(true)
            .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")));
        if !secure {
            builder = builder.tls_certs_only([]);
        } else {
            builder = trusting(builder, &self.tls)?;
        }
        if let Some(proxy) = self.proxy() {
            let proxy = Proxy::all(proxy).map_err(|error| unusable("network.proxy", &error))?;
            let direct =
                format!("localhost,127.0.0.1,::1,{}", self.settings.no_proxy.as_deref().unwrap_or_default());
            builder = builder.proxy(proxy.no_proxy(reqwest::NoProxy::from_string(&direct)));
        }
        if let Some(guard) = &self.settings.guard {
            builder = builder.dns_resolver(guard.clone());
        }
        builder.build().map_err(|error| unusable("the HTTP client", &error))
    }
}

/// Adds the roots that the user trusts for one endpoint, or disables the check of certificates there.
fn trusting(builder: reqwest::ClientBuilder, tls: &TlsOptions) -> Result<reqwest::ClientBuilder, Failure> {
    let mut builder = builder;
    if let Some(path) = &tls.ca_cert {
        let origin = || format!("ssl_ca_cert {}", path.display());
        let unreadable = |cause: String| Failure::Unreachable { origin: origin(), cause };
        let pem = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let roots = Certificate::from_pem_bundle(&pem).map_err(|error| unreadable(root_cause(&error)))?;
        if roots.is_empty() {
            return Err(unreadable("the file holds no certificate in PEM format".to_owned()));
        }
        builder = builder.tls_certs_merge(roots);
    }
    Ok(match tls.verify {
        true => builder,
        false => builder.tls_danger_accept_invalid_certs(true),
    })
}

fn unusable(what: &str, error: &reqwest::Error) -> Failure {
    Failure::Unreachable { origin: what.to_owned(), cause: root_cause(error) }
}

/// Returns the innermost cause of an error, which is the part that a user can act on.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
