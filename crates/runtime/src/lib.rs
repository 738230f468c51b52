//! Assembling a working Hermes: home directory, configuration, slash commands, wiring.
