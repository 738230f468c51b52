//! What crosses the line to a model: neutral request and event types, and the formats they are written in.
