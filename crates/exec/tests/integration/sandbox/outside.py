"""The world outside of the sandbox: a process with secrets, and servers that greet with one."""
import ctypes, http.server, json, os, pty, socket, sys, threading

base, run = sys.argv[1], sys.argv[2]
tag = os.path.basename(base)
libc = ctypes.CDLL(None, use_errno=True)
home = f"{base}/outside"
os.makedirs(home)
open(f"{home}/secret", "w").write("SECRET\n")
os.chdir(home)
held = os.open(f"{home}/secret", os.O_RDONLY)
memory = ctypes.create_string_buffer(b"SECRET in memory")


def greet(server, action=lambda client: client.sendall(b"SECRET")):
    def serve():
        while True:
            client, _ = server.accept()
            try:
                action(client)
            except OSError:
                pass
            client.close()
    threading.Thread(target=serve, daemon=True).start()


def unix(path, **more):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(16)
    greet(server, **more)
    return path


def tcp(action=lambda client: client.sendall(b"SECRET")):
    server = socket.create_server(("127.0.0.1", 0))
    greet(server, action)
    return server.getsockname()[1]


def call_back(client):
    port = int(client.makefile().readline())
    socket.create_connection(("127.0.0.1", port), 3).close()


def echo(server):
    while True:
        _, sender = server.recvfrom(2000)
        server.sendto(b"SECRET", sender)


def files(directory):
    path = f"{directory}/{tag}"
    open(path, "w").write("SECRET\n")
    return path


agents = f"/tmp/{tag}-agents"
os.makedirs(agents)
supervisor = f"/tmp/{tag}-supervisor"
os.makedirs(supervisor)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
threading.Thread(target=echo, args=(datagrams,), daemon=True).start()
abstract = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
abstract.bind(f"\0{tag}-datagrams")
unix(f"\0{tag}")
unix(f"{supervisor}/s")
pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
pages.RequestHandlerClass.log_message = lambda *a: None
threading.Thread(target=pages.serve_forever, daemon=True).start()
libc.shmat.restype = ctypes.c_void_p
shared = libc.shmget(0, 4096, 0o1600)
ctypes.memmove(libc.shmat(shared, None, 0), b"SECRET", 6)
terminal = os.ttyname(pty.openpty()[1])
shm = files("/dev/shm")
print(json.dumps({
    "VICTIM": os.getpid(), "VICTIMFD": held, "VICTIMADDR": ctypes.addressof(memory),
    "DOCKER": unix(f"{run}/docker.sock"), "BUS": unix(f"{run}/bus"), "AGENT": unix(f"{agents}/agent.1"),
    "GPG": unix(f"{base}/gpg"), "SUPERVISOR": supervisor, "ABSTRACT": tag,
    "PASS": unix(f"{run}/pass", action=lambda client: socket.send_fds(client, [b"x"], [held])),
    "TCP": tcp(), "UDP": datagrams.getsockname()[1], "HTTP": pages.server_port, "CALLBACK": tcp(call_back),
    "SHMID": shared, "TTY": terminal,
    "HOSTTMP": files("/tmp"), "HOSTVARTMP": files("/var/tmp"), "HOSTSHM": shm,
}), flush=True)
sys.stdin.read()
libc.shmctl(shared, 0, None)
for path in (f"/tmp/{tag}", f"/var/tmp/{tag}", shm, f"{agents}/agent.1", f"{supervisor}/s"):
    os.unlink(path)
os.rmdir(agents)
os.rmdir(supervisor)
