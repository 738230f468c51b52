"""Calls the tools of the Hermes session that runs this script.

Each function takes the arguments of its tool and returns the result, mostly a dict. Each thread has a connection of its
own, so replies cannot be mixed up.
"""

import json
import os
import shlex
import socket
import sys
import threading
import time

_local = threading.local()


def _connect():
    path = os.environ["HERMES_RPC_SOCKET"]
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if len(os.fsencode(path)) <= 100:
        connection.connect(path)
    else:
        # The address of a socket has room for 107 bytes.
        folder, name = os.path.split(path)
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            connection.connect("/proc/self/fd/%d/%s" % (directory, name))
        finally:
            os.close(directory)
    return connection


def _own():
    # A forked process must not share the connection of its parent.
    if getattr(_local, "process", None) != os.getpid():
        _local.stream = _connect().makefile("rwb")
        _local.process = os.getpid()
        _local.seq = 0
    return _local


def _request(tool, arguments):
    own = _own()
    own.seq += 1
    request = {"tool": tool, "args": arguments, "token": os.environ["HERMES_RPC_TOKEN"], "seq": own.seq}
    own.stream.write(json.dumps(request).encode("utf-8", "surrogatepass") + b"\n")
    own.stream.flush()
    line = own.stream.readline()
    if not line.endswith(b"\n"):
        raise ConnectionError("Hermes closed the connection")
    reply = json_parse(line.decode("utf-8", "replace"))
    if reply.get("seq") != own.seq:
        raise ConnectionError("Hermes answered another request")
    result = reply["result"]
    if isinstance(result, str):
        try:
            return json_parse(result)
        except ValueError:
            return result
    return result


def _call(tool, names, values, named):
    if len(values) > len(names):
        raise TypeError("%s takes at most %d arguments" % (tool, len(names)))
    arguments = dict(zip(names, values))
    for name, value in named.items():
        if name in arguments:
            raise TypeError("%s got %s twice" % (tool, name))
        arguments[name] = value
    return _request(tool, {name: value for name, value in arguments.items() if value is not None})


def json_parse(text):
    """Parses JSON that may contain control characters."""
    return json.loads(text, strict=False)


def shell_quote(text):
    """Quotes a text for a shell."""
    return shlex.quote(str(text))


def retry(fn, max_attempts=3, delay=2):
    """Calls fn until it raises nothing; waits delay seconds first, then twice as long each time."""
    for attempt in range(max_attempts):
        try:
            return fn()
        except Exception:
            if attempt + 1 >= max_attempts:
                raise
            time.sleep(delay * 2**attempt)

