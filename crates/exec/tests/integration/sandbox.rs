//! The sandbox against commands that try to get out, and with commands that do ordinary work.

mod attempt;
mod attempts_files;
mod attempts_git;
mod attempts_network;
mod attempts_processes;
mod attempts_system;
mod confinement;
mod escapes;
mod fixture;
mod outside;
mod supervised;
mod tasks;
mod tasks_list;
