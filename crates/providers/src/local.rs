//! Model servers on this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;

/// A model server that answers on loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalServer {
    pub name: &'static str,
    pub port: u16,
}

pub(crate) const OLLAMA_PORT: u16 = 11434;
pub(crate) const LM_STUDIO_PORT: u16 = 1234;

const USUAL: &[LocalServer] = &[
    LocalServer { name: "Ollama", port: OLLAMA_PORT },
    LocalServer { name: "LM Studio", port: LM_STUDIO_PORT },
    LocalServer { name: "llama.cpp", port: 8080 },
    LocalServer { name: "vLLM", port: 8000 },
];

impl LocalServer {
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

/// Tries to connect to the usual ports. Nothing is sent.
pub async fn find_local_servers() -> Vec<LocalServer> {
    let knock = |server: &'static LocalServer| async move {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port));
        let open = tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await;
        matches!(open, Ok(Ok(_))).then_some(*server)
    };
    futures::future::join_all(USUAL.iter().map(knock)).await.into_iter().flatten().collect()
}
