//! Which endpoint, which key, which API mode, and the HTTP call itself.
