//! Attempts to use the network when it is off.

use super::attempt::{Attempt, held};

pub(crate) const ALL: &[Attempt] = &[
    held(
        "connect",
        "#py\ns = socket.create_connection(('127.0.0.1', int(e['TCP'])), 3)\nif s.recv(6) == b'SECRET': escaped()",
    ),
    held(
        "connect with IPv6",
        "#py\ns = socket.socket(socket.AF_INET6); s.settimeout(3); s.connect(('::ffff:127.0.0.1', int(e['TCP'])))\nif s.recv(6) == b'SECRET': escaped()",
    ),
    held(
        "connect from the shell",
        "exec 7<>/dev/tcp/127.0.0.1/$TCP && head -c 6 <&7 | grep -q SECRET && echo ESCAPED",
    ),
    held(
        "send a datagram",
        "#py\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.5); s.sendto(b'x', ('127.0.0.1', int(e['UDP'])))\nif s.recv(6) == b'SECRET': escaped()",
    ),
    held(
        "resolve a name",
        "#py\nq = b'\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x06secret\\x07example\\x03org\\0\\0\\x01\\0\\x01'\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.5); s.sendto(q, ('127.0.0.1', int(e['UDP'])))\nif s.recv(512): escaped()",
    ),
    held(
        "fetch a page",
        "#py\nimport urllib.request\nif urllib.request.urlopen(f\"http://127.0.0.1:{e['HTTP']}/\", timeout=3).read(): escaped()",
    ),
    held(
        "send with fast open",
        "#py\ns = socket.socket(socket.AF_INET, socket.SOCK_STREAM)\ns.sendto(b'x', 0x20000000, ('127.0.0.1', int(e['TCP'])))\nif s.recv(6) == b'SECRET': escaped()",
    ),
    held("send raw packets", "#py\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1); escaped()").as_root(),
    held("read all packets", "#py\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW); escaped()").as_root(),
    held(
        "listen to kernel events",
        "#py\ns = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15); s.bind((0, 1)); escaped()",
    ),
    held(
        "use the cipher interface",
        "#py\nsocket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0); escaped()",
    )
    .unseen("not every kernel has it"),
    held(
        "connect through an abstract socket",
        "#py\ns = socket.socket(socket.AF_UNIX); s.connect('\\0' + e['ABSTRACT'])\nif s.recv(6) == b'SECRET': escaped()",
    ),
    held(
        "serve the outside",
        "#py\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\nc = socket.create_connection(('127.0.0.1', int(e['CALLBACK'])), 3)\nc.sendall(b'%d\\n' % s.getsockname()[1]); s.settimeout(3); s.accept(); escaped()",
    ),
];
