//! A request as the fake provider received it.

use bytes::Bytes;
use hermes_scripted::http::Request;
use serde_json::Value;

/// One request to the fake provider, successful or not.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// The raw bytes; prefix checks compare these.
    pub body: Bytes,
    /// The body as JSON; `Null` if it is not JSON.
    pub json: Value,
    /// The number of its connection, from 1.
    pub connection: u64,
}

impl RecordedRequest {
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

    /// The first header with this name, in any case.
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
