//! From a session and settings to one request: system-prompt layers and the request itself.
