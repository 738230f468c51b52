//! What the model may do: tool trait, registry, toolsets, approvals, built-in tools.
