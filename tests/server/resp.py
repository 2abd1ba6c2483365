"""A client that shows replies as they are: RESP2 and RESP3, with every type told apart.

simple string: str     bulk string: bytes     integer: int     double: float     boolean: bool
null: None             array: list            map: dict        set: Set          error: Error
push: Push
"""

import socket


class Error(str):
    """An error reply; the text without the leading minus."""

    def __repr__(self):
        return f"Error({str(self)!r})"


class Push(list):
    """Something the server says by itself."""

    def __repr__(self):
        return f"Push({list(self)!r})"


class Set(list):
    """A RESP3 set, in the order of the reply."""

    def __repr__(self):
        return f"Set({list(self)!r})"


def to_bytes(argument):
    if isinstance(argument, bytes):
        return argument
    return str(argument).encode()


def encode(*arguments):
    """One command as bytes for the server."""
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        word = to_bytes(argument)
        parts.append(b"$%d\r\n%b\r\n" % (len(word), word))
    return b"".join(parts)


class Client:
    def __init__(self, port, protocol=2, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb", 1 << 18)
        if protocol != 2:
            self("HELLO", protocol)

    def close(self):
        self.input.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __call__(self, *arguments):
        """Sends a command and returns its reply."""
        self.socket.sendall(encode(*arguments))
        return self.read()

    def ok(self, *arguments):
        """The same for commands that must not fail."""
        reply = self(*arguments)
        if isinstance(reply, Error):
            shown = " ".join(str(a)[:60] for a in arguments[:8])
            raise AssertionError(f"{shown}: {reply}")
        return reply

    def pipeline(self, commands):
        """Sends all commands at once; the list of their replies."""
        commands = list(commands)
        self.socket.sendall(b"".join(encode(*command) for command in commands))
        return [self.read() for _ in commands]

    def read(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode(errors="replace"))
        if kind in b"$=!":
            return self.read_bulk(kind, int(rest))
        if kind in b"*>~":
            return self.read_list(kind, int(rest))
        if kind in b"%|":
            pairs = {self.read_key(): self.read() for _ in range(int(rest))}
            return pairs if kind == b"%" else self.read()
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        if kind == b"_":
            return None
        if kind == b"(":
            return int(rest)
        raise ValueError(f"not a reply: {line!r}")

    def read_bulk(self, kind, length):
        if length < 0:
            return None
        text = self.input.read(length + 2)
        if len(text) != length + 2:
            raise ConnectionError("the server closed the connection")
        text = text[:-2]
        return Error(text.decode()) if kind == b"!" else text

    def read_list(self, kind, length):
        if length < 0:
            return None
        items = [self.read() for _ in range(length)]
        return {b"*": list, b">": Push, b"~": Set}[kind](items)

    def read_key(self):
        key = self.read()
        return repr(key) if isinstance(key, (list, dict)) else key
