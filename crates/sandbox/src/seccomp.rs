//! The system call filter.
//!
//! The program is a list of comparisons with the number of the call, made once and installed by each child. Calls
//! that are allowed whatever their arguments cost nothing afterwards: the kernel remembers them.

use crate::syscalls::{self, Denial};
use libc::sock_filter;

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_ANY_BIT: u16 = 0x45;
const JUMP_GREATER: u16 = 0x25;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const ERRNO: u32 = 0x0005_0000;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
/// The bit that marks the calls of the x32 interface.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// True if the filter knows the system calls of this processor.
pub(crate) const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The socket families that a command may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Unix sockets and the internet. A network namespace may limit the latter.
    Internet,
    /// Unix sockets only.
    Local,
}

/// Builds the filter.
pub(crate) fn filter(sockets: Sockets) -> Vec<sock_filter> {
    let mut program = Vec::new();
    program.extend([load(ARCHITECTURE), jump(JUMP_EQUAL, NATIVE, 1, 0), give(KILL_PROCESS), load(NUMBER)]);
    #[cfg(target_arch = "x86_64")]
    program.extend([jump(JUMP_ANY_BIT, X32, 0, 1), give(ERRNO | errno(libc::ENOSYS))]);
    program.extend([jump(JUMP_GREATER, syscalls::LAST_KNOWN, 0, 1), give(ERRNO | errno(libc::ENOSYS))]);
    for &(number, denial) in syscalls::DENIED {
        let error = match denial {
            Denial::NotPermitted => libc::EPERM,
            Denial::NotThere => libc::ENOSYS,
        };
        program.extend([jump(JUMP_EQUAL, call(number), 0, 1), give(ERRNO | errno(error))]);
    }
    on(&mut program, libc::SYS_ioctl, &refuse_values(1, &syscalls::TERMINAL_IOCTLS));
    on(&mut program, libc::SYS_clone, &refuse_bits(0, syscalls::NAMESPACES));
    on(&mut program, libc::SYS_unshare, &refuse_bits(0, syscalls::NAMESPACES));
    on(&mut program, libc::SYS_personality, &permit_values(0, &syscalls::PERSONALITIES));
    on(&mut program, libc::SYS_prlimit64, &limits_of_others());
    on(&mut program, libc::SYS_socket, &families(sockets));
    program.push(give(ALLOW));
    program
}

/// Adds instructions that run for one system call and end with a return.
fn on(program: &mut Vec<sock_filter>, number: libc::c_long, body: &[sock_filter]) {
    // The body is far below 255 instructions.
    let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
    program.push(jump(JUMP_EQUAL, call(number), 0, length));
    program.extend_from_slice(body);
}

fn refuse_values(argument: u32, values: &[u32]) -> Vec<sock_filter> {
    let mut body = vec![low(argument)];
    for &value in values {
        body.extend([jump(JUMP_EQUAL, value, 0, 1), give(ERRNO | errno(libc::EPERM))]);
    }
    body.push(give(ALLOW));
    body
}

fn permit_values(argument: u32, values: &[u32]) -> Vec<sock_filter> {
    let mut body = vec![low(argument)];
    for &value in values {
        body.extend([jump(JUMP_EQUAL, value, 0, 1), give(ALLOW)]);
    }
    body.push(give(ERRNO | errno(libc::EPERM)));
    body
}

fn refuse_bits(argument: u32, bits: u32) -> Vec<sock_filter> {
    vec![low(argument), jump(JUMP_ANY_BIT, bits, 0, 1), give(ERRNO | errno(libc::EPERM)), give(ALLOW)]
}

/// Refuses to set limits of other processes: a low limit on processor time kills, and signals are not asked.
fn limits_of_others() -> Vec<sock_filter> {
    vec![
        low(0),
        jump(JUMP_EQUAL, 0, 5, 0),
        low(2),
        jump(JUMP_EQUAL, 0, 0, 2),
        high(2),
        jump(JUMP_EQUAL, 0, 1, 0),
        give(ERRNO | errno(libc::EPERM)),
        give(ALLOW),
    ]
}

/// Permits listed families, and of netlink only the routing tables, which list addresses.
fn families(sockets: Sockets) -> Vec<sock_filter> {
    let family = |family: i32| family.unsigned_abs();
    let mut permitted = vec![family(libc::AF_UNIX)];
    if sockets == Sockets::Internet {
        permitted.extend([family(libc::AF_INET), family(libc::AF_INET6)]);
    }
    let mut body = vec![low(0)];
    for family in permitted {
        body.extend([jump(JUMP_EQUAL, family, 0, 1), give(ALLOW)]);
    }
    body.extend([
        jump(JUMP_EQUAL, family(libc::AF_NETLINK), 0, 3),
        low(2),
        jump(JUMP_EQUAL, 0, 0, 1),
        give(ALLOW),
        give(ERRNO | errno(libc::EPERM)),
    ]);
    body
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: LOAD, jt: 0, jf: 0, k: offset }
}

/// Loads the low half of an argument. Both processors have it first.
fn low(argument: u32) -> sock_filter {
    load(ARGUMENTS + 8 * argument)
}

fn high(argument: u32) -> sock_filter {
    load(ARGUMENTS + 8 * argument + 4)
}

fn jump(code: u16, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter { code, jt: if_true, jf: if_false, k: value }
}

fn give(verdict: u32) -> sock_filter {
    sock_filter { code: RETURN, jt: 0, jf: 0, k: verdict }
}

fn errno(number: i32) -> u32 {
    number.unsigned_abs()
}

fn call(number: libc::c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;
