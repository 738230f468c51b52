//! TLS options of an endpoint: its own root, and no check at all.
//!
//! `tls/` holds a root that signs only the server of this test, which listens on loopback.

use hermes_guard::Secrets;
use hermes_providers::{
    CustomProvider, HttpClients, ModeName, RequestExtras, TlsOptions, Wanted, install_tls, list_models,
    resolve,
};
use hermes_providers::{Fetcher, HttpSettings};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/integration/tls").join(name)
}

/// Answers every request with a list of one model.
async fn serve() -> String {
    install_tls();
    let chain = CertificateDer::pem_file_iter(file("server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked).await;
            let body = r#"{"data":[{"id":"m"}]}"#;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}",
                body.len()
            );
            let _ = stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n{body}").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    base_url
}

/// The result of a request with these options.
async fn asked(base_url: &str, tls: TlsOptions) -> String {
    let entry = CustomProvider {
        name: "box".to_owned(),
        base_url: base_url.to_owned(),
        api_mode: Some(ModeName::ChatCompletions),
        extras: RequestExtras { tls, ..RequestExtras::default() }.into(),
        ..CustomProvider::default()
    };
    let wanted = Wanted {
        provider: Some("custom:box".to_owned()),
        model: Some("m".to_owned()),
        custom: vec![entry],
        ..Wanted::default()
    };
    let endpoint = resolve(&wanted, &|_| None).unwrap();
    let fetcher = Fetcher {
        clients: HttpClients::new(HttpSettings::default()),
        secrets: Secrets::default(),
        limit: Duration::from_secs(30),
    };
    match list_models(&endpoint.place(), &fetcher).await {
        Ok(models) => format!("{} model", models.len()),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_its_own_root_is_trusted_only_where_the_settings_say_so() {
    let base_url = serve().await;
    let usual = asked(&base_url, TlsOptions::default()).await;
    assert!(!usual.contains("model") && usual.contains("certificate"), "{usual}");
    let rooted = TlsOptions { ca_cert: Some(file("ca.pem")), verify: true };
    assert_eq!(asked(&base_url, rooted).await, "1 model");
    let unchecked = TlsOptions { ca_cert: None, verify: false };
    assert_eq!(asked(&base_url, unchecked).await, "1 model");
    for (path, want) in [("nowhere.pem", "ssl_ca_cert"), ("server.key", "no certificate")] {
        let wrong = TlsOptions { ca_cert: Some(file(path)), verify: true };
        let said = asked(&base_url, wrong).await;
        assert!(said.contains(want), "{path}: {said}");
    }
}
