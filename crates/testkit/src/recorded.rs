//! A request as the fake provider saw it.

use bytes::Bytes;
use hermes_scripted::http::Request;
use serde_json::Value;

/// One request that reached the fake provider, whatever it was answered with.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// The very bytes; prefix checks compare these.
    pub body: Bytes,
    /// The body read as JSON, `Null` when it is none.
    pub json: Value,
    /// Which connection carried it, counting from 1.
    pub connection: u64,
}

impl Recorded {
    pub(crate) fn new(request: &Request, connection: u64) -> Self {
        Self {
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            json: serde_json::from_slice(&request.body).unwrap_or(Value::Null),
            connection,
        }
    }

    /// The first header of that name, in any spelling.
    pub fn header(&self, name: &str) -> Option<&str> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().find(same).map(|(_, value)| value.as_str())
    }

    /// The messages of a chat request.
    pub fn messages(&self) -> &[Value] {
        self.json["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The items of a Responses request.
    pub fn input(&self) -> &[Value] {
        self.json["input"].as_array().map_or(&[], Vec::as_slice)
    }
}
