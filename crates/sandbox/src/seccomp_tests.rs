use super::*;

/// Runs the filter as the kernel would.
fn verdict(program: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let word = |offset: u32| match offset {
        NUMBER => number,
        ARCHITECTURE => architecture,
        offset => {
            let index = (offset - ARGUMENTS) / 4;
            let argument = arguments[index as usize / 2];
            if index.is_multiple_of(2) { argument as u32 } else { (argument >> 32) as u32 }
        }
    };
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let step = program[at];
        at += 1;
        let taken = match step.code {
            LOAD => {
                accumulator = word(step.k);
                continue;
            }
            JUMP_EQUAL => accumulator == step.k,
            JUMP_GREATER => accumulator > step.k,
            JUMP_ANY_BIT => accumulator & step.k != 0,
            RETURN => return step.k,
            code => panic!("unknown instruction {code:#x}"),
        };
        at += usize::from(if taken { step.jt } else { step.jf });
    }
}

const REFUSED: u32 = ERRNO | 1;

#[test]
fn calls_are_judged_by_number_and_arguments() {
    let on = filter(Sockets::Internet);
    for (name, number, arguments, want) in [
        ("future call", 500, [0; 6], ERRNO | 38),
        ("read", libc::SYS_read, [0; 6], ALLOW),
        ("ptrace", libc::SYS_ptrace, [0; 6], REFUSED),
        ("clone3", libc::SYS_clone3, [0; 6], ERRNO | 38),
        ("fork by clone", libc::SYS_clone, [0x0120_0011, 0, 0, 0, 0, 0], ALLOW),
        ("thread", libc::SYS_clone, [0x003d_0f00, 0, 0, 0, 0, 0], ALLOW),
        ("user namespace", libc::SYS_clone, [0x1000_0011, 0, 0, 0, 0, 0], REFUSED),
        ("unshare files", libc::SYS_unshare, [0x0400, 0, 0, 0, 0, 0], ALLOW),
        ("unshare mounts", libc::SYS_unshare, [0x0002_0000, 0, 0, 0, 0, 0], REFUSED),
        ("terminal size", libc::SYS_ioctl, [0, 0x5413, 0, 0, 0, 0], ALLOW),
        ("TIOCSTI", libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0], REFUSED),
        ("TIOCSTI with high bits", libc::SYS_ioctl, [0, 0xffff_ffff_0000_5412, 0, 0, 0, 0], REFUSED),
        ("own limits", libc::SYS_prlimit64, [0, 7, 99, 0, 0, 0], ALLOW),
        ("limits of another", libc::SYS_prlimit64, [42, 7, 99, 0, 0, 0], REFUSED),
        ("limits of another at a high address", libc::SYS_prlimit64, [42, 7, 1 << 40, 0, 0, 0], REFUSED),
        ("reading limits of another", libc::SYS_prlimit64, [42, 7, 0, 99, 0, 0], ALLOW),
        ("unix socket", libc::SYS_socket, [1, 1, 0, 0, 0, 0], ALLOW),
        ("internet socket", libc::SYS_socket, [2, 1, 0, 0, 0, 0], ALLOW),
        ("routing socket", libc::SYS_socket, [16, 3, 0, 0, 0, 0], ALLOW),
        ("audit socket", libc::SYS_socket, [16, 3, 9, 0, 0, 0], REFUSED),
        ("packet socket", libc::SYS_socket, [17, 3, 0, 0, 0, 0], REFUSED),
        ("vsock", libc::SYS_socket, [40, 1, 0, 0, 0, 0], REFUSED),
        ("personality of others", libc::SYS_personality, [0x0040_0000, 0, 0, 0, 0, 0], REFUSED),
        ("personality", libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0, 0], ALLOW),
    ] {
        assert_eq!(verdict(&on, NATIVE, call(number), arguments), want, "{name}");
    }
    let off = filter(Sockets::Local);
    let socket = |family| verdict(&off, NATIVE, call(libc::SYS_socket), [family, 1, 0, 0, 0, 0]);
    assert_eq!((socket(1), socket(2), socket(10)), (ALLOW, REFUSED, REFUSED));
}

#[test]
fn other_interfaces_of_the_processor_are_refused() {
    let program = filter(Sockets::Internet);
    assert_eq!(verdict(&program, 0x4000_0003, 4, [0; 6]), KILL_PROCESS);
    #[cfg(target_arch = "x86_64")]
    assert_eq!(verdict(&program, NATIVE, X32 | 1, [0; 6]), ERRNO | 38);
}
