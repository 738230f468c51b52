//! Attempts to reach other processes.

use super::attempt::{Attempt, held};

const SOCKETS: &str = "Landlock covers pathname sockets from version 9 on";
const IPC: &str = "Landlock does not cover System V memory";
const TERMINALS: &str = "terminals are shared without a file system of their own";

pub(crate) const ALL: &[Attempt] = &[
    held("read the environment of a process", "grep -qa SECRET /proc/$VICTIM/environ && echo ESCAPED"),
    held("read the environment of the parent", "grep -qa PATH /proc/$PPID/environ && echo ESCAPED"),
    held("read the memory of a process", "#py\nfor line in open(f\"/proc/{e['VICTIM']}/maps\"):\n    if '[stack]' in line:\n        start = int(line.split('-')[0], 16)\n        with open(f\"/proc/{e['VICTIM']}/mem\", 'rb') as mem:\n            mem.seek(start + 0x1000); mem.read(16); escaped()"),
    held("write the memory of a process", "#py\nopen(f\"/proc/{e['VICTIM']}/mem\", 'r+b'); escaped()"),
    held("read the memory map of a process", "grep -q . /proc/$VICTIM/maps && echo ESCAPED"),
    held("read files through the root of a process", "ls /proc/$VICTIM/root/ && echo ESCAPED"),
    held("read files through the directory of a process", "grep -q SECRET /proc/$VICTIM/cwd/secret && echo ESCAPED"),
    held("read an open file of a process", "grep -q SECRET /proc/$VICTIM/fd/$VICTIMFD && echo ESCAPED"),
    held("name an open file of a process", "readlink /proc/$VICTIM/fd/$VICTIMFD && echo ESCAPED"),
    held("copy a descriptor of a process", "#py\npidfd = os.pidfd_open(int(e['VICTIM']))\nfd = libc.syscall(438, pidfd, int(e['VICTIMFD']), 0)\nif fd >= 0: escaped()"),
    held("read memory with process_vm_readv", "#py\nclass V(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]\nbuf = ctypes.create_string_buffer(8)\nl = V(ctypes.addressof(buf), 8); r = V(int(e['VICTIMADDR']), 8)\nif libc.process_vm_readv(int(e['VICTIM']), ctypes.byref(l), 1, ctypes.byref(r), 1, 0) == 8 and buf.raw.startswith(b'SECRET'): escaped()"),
    held("trace a process", "#py\nlibc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]\nif libc.ptrace(0x4206, int(e['VICTIM']), None, None) == 0: escaped()"),
    held("compare kernel objects of a process", "#py\nif libc.syscall(312, os.getpid(), int(e['VICTIM']), 1, 0, 0) >= 0: escaped()"),
    held("signal a process", "kill -CONT $VICTIM && echo ESCAPED"),
    held("signal the parent", "kill -CONT $PPID && echo ESCAPED"),
    held("signal a process through a handle", "#py\nimport signal\nsignal.pidfd_send_signal(os.pidfd_open(int(e['VICTIM'])), signal.SIGCONT); escaped()"),
    held("signal a thread", "#py\nif libc.syscall(234, int(e['VICTIM']), int(e['VICTIM']), 18) == 0: escaped()"),
    held("signal with a value", "#py\nimport struct\ninfo = ctypes.create_string_buffer(struct.pack('iiixxxxii', 18, 0, -1, os.getpid(), os.getuid()) + b'\\0' * 104)\nif libc.syscall(129, int(e['VICTIM']), 18, info) == 0: escaped()"),
    held("set limits of a process", "prlimit --pid $VICTIM --nofile=200:200 && echo ESCAPED"),
    held("make a process the victim of the next shortage of memory", "echo 500 > /proc/$VICTIM/oom_score_adj && echo ESCAPED"),
    held("type into a terminal", "#py\nimport pty, fcntl, termios\nm, s = pty.openpty()\nif os.fork() == 0:\n    try:\n        os.setsid(); fcntl.ioctl(s, termios.TIOCSCTTY, 0); fcntl.ioctl(s, 0x5412, b'x'); escaped(); sys.stdout.flush()\n    finally: os._exit(0)\nos.wait()"),
    held("write to the user's terminal", "[ -c $TTY ] && echo x > $TTY && echo ESCAPED").by_namespaces(TERMINALS),
    held("talk to Docker", "#py\ns = socket.socket(socket.AF_UNIX); s.connect(e['DOCKER'])\nif s.recv(6) == b'SECRET': escaped()").by_namespaces(SOCKETS),
    held("talk to the session bus", "#py\ns = socket.socket(socket.AF_UNIX); s.connect(e['BUS'])\nif s.recv(6) == b'SECRET': escaped()").by_namespaces(SOCKETS),
    held("talk to an agent with keys in /tmp", "#py\ns = socket.socket(socket.AF_UNIX); s.connect(e['AGENT'])\nif s.recv(6) == b'SECRET': escaped()").by_namespaces(SOCKETS),
    held("talk to an agent with keys in the home directory", "#py\ns = socket.socket(socket.AF_UNIX); s.connect(e['HOME'] + '/.gnupg/S.gpg-agent')\nif s.recv(6) == b'SECRET': escaped()").by_namespaces(SOCKETS),
    held("talk to the supervisor", "#py\ns = socket.socket(socket.AF_UNIX); s.connect(e['SUPERVISOR'] + '/s')\nif s.recv(6) == b'SECRET': escaped()").by_namespaces(SOCKETS),
    held("receive a descriptor", "#py\ns = socket.socket(socket.AF_UNIX); s.connect(e['PASS'])\nmsg, fds, _, _ = socket.recv_fds(s, 10, 1)\nif b'SECRET' in os.pread(fds[0], 100, 0): escaped()").by_namespaces(SOCKETS),
    held("talk to an abstract socket", "#py\ns = socket.socket(socket.AF_UNIX); s.connect('\\0' + e['ABSTRACT'])\nif s.recv(6) == b'SECRET': escaped()"),
    held("send to an abstract socket", "#py\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b'x', '\\0' + e['ABSTRACT'] + '-datagrams'); escaped()"),
    held("attach shared memory of a process", "#py\nlibc.shmat.restype = ctypes.c_void_p\nat = libc.shmat(int(e['SHMID']), None, 0o10000)\nif at not in (None, 2**64 - 1) and ctypes.string_at(at, 6) == b'SECRET': escaped()").by_namespaces(IPC),
];
