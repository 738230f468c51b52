//! The capabilities that remain in the sandbox.
//!
//! Only root has any. It keeps those that work on files and on its own processes, so that a build as root can
//! change owners and modes of its files; all that reach into the kernel or into other processes are gone.

use crate::sys;
use std::io::Result;

const CHOWN: u32 = 0;
const DAC_OVERRIDE: u32 = 1;
const FOWNER: u32 = 3;
const FSETID: u32 = 4;
const KILL: u32 = 5;
const SETGID: u32 = 6;
const SETUID: u32 = 7;
const SETPCAP: u32 = 8;
/// The kernel has 41 so far; the system call refuses those that it does not know.
const LAST: u32 = 63;

const KEPT: u64 =
    1 << CHOWN | 1 << DAC_OVERRIDE | 1 << FOWNER | 1 << FSETID | 1 << KILL | 1 << SETGID | 1 << SETUID;

/// Drops all other capabilities for this process and its descendants. Makes system calls only.
pub(crate) fn restrict() -> Result<()> {
    let permitted = sys::permitted_capabilities()?;
    if permitted & 1 << SETPCAP != 0 {
        for capability in (0..=LAST).filter(|capability| KEPT & 1 << capability == 0) {
            if sys::drop_bounding(capability).is_err() {
                // The first one that the kernel does not know.
                break;
            }
        }
    }
    sys::clear_ambient()?;
    sys::set_capabilities(permitted & KEPT)
}
