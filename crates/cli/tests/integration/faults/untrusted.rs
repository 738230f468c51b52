//! A server with an untrusted certificate.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Signed with its own key, for 127.0.0.1, until 2126.
const CERTIFICATE: &[u8] = include_bytes!("server.pem");
/// An Ed25519 key in PKCS #8 is these bytes and 32 of one's own choice.
const KEY_HEAD: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// Listens for as long as the test lives.
pub(crate) struct Untrusted {
    address: std::net::SocketAddr,
    greeted: Arc<AtomicUsize>,
}

impl Untrusted {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let greeted = Arc::<AtomicUsize>::default();
        let (counting, config) = (greeted.clone(), config());
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                counting.fetch_add(1, Ordering::SeqCst);
                let mut connection = ServerConnection::new(config.clone()).unwrap();
                // Ends when the client has seen the certificate and turned away.
                while connection.complete_io(&mut stream).is_ok_and(|(read, _)| read > 0) {}
            }
        });
        Self { address, greeted }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("https://{}/v1", self.address)
    }

    /// The number of connections so far.
    pub(crate) fn greeted(&self) -> usize {
        self.greeted.load(Ordering::SeqCst)
    }
}

/// The root certificates for the program, so that those of the machine do not matter.
pub(crate) fn other_root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/faults/root.pem"))
}

fn config() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = [&KEY_HEAD[..], &[7; 32]].concat();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}
