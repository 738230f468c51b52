//! A port on loopback and the task that accepts its connections.

use crate::http::Connection;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// An open port. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    accepting: AbortHandle,
}

impl Listener {
    /// Opens a free port and serves every connection in its own task.
    pub async fn start<Serve, Served>(serve: Serve) -> io::Result<Self>
    where
        Serve: Fn(Connection) -> Served + Send + 'static,
        Served: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(accept(listener, serve)).abort_handle();
        Ok(Self { address, accepting })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a provider's base URL: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The connection tasks belong to the accepting task and end with it.
        self.accepting.abort();
    }
}

async fn accept<Serve, Served>(listener: TcpListener, serve: Serve)
where
    Serve: Fn(Connection) -> Served,
    Served: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                number += 1;
                connections.spawn(serve(prepared(stream, number)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

fn prepared(stream: TcpStream, number: u64) -> Connection {
    // Small pieces must be sent immediately. Without the option they are only slower.
    let _ = stream.set_nodelay(true);
    Connection::new(stream, number)
}
