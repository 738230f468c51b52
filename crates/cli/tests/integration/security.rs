//! The program against a hostile project, server, model and archive.

mod caches;
mod control_bytes;
mod environment;
mod imports;
mod own_keys;
mod project_files;
mod scene;
mod smaller;
