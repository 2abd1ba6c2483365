"""Servers on free ports, a client that keeps replies as bytes, and the keys that are added and queried."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pin(core):
    if len(os.sched_getaffinity(0)) > 1:
        os.sched_setaffinity(0, {core})


class Server:
    """A server on a free port, with its folder, for as long as it is needed."""

    def __init__(self, program, modules):
        self.folder = tempfile.mkdtemp()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "", "--loglevel", "warning"]
        for module in modules:
            command += ["--loadmodule", module]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=lambda: pin(1))
        self.client = self.connect()

    def connect(self):
        while True:
            try:
                return Client(self.port)
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    sys.exit("the server does not start:\n" + self.process.stdout.read().decode())
                time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def encode(*words):
    """A command as the server reads it."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, *words):
        """The reply as it comes, up to that of a PING sent after the command."""
        return self.send(encode(*words))

    def send(self, commands):
        self.socket.sendall(commands + b"PING\r\n")
        reply = bytearray()
        while not reply.endswith(b"+PONG\r\n"):
            reply += self.socket.recv(1 << 20)
        del reply[-7:]
        if reply.startswith(b"-") or b"\n-" in reply:
            sys.exit("the server says: " + reply[:200].decode(errors="replace"))
        return bytes(reply)

    def number(self, *words):
        return int(self.call(*words)[1:])

    def run(self, commands, reply_bytes):
        """Sends commands whose replies have a known length; how many of them are 1."""
        ones = 0
        for piece in commands:
            self.socket.sendall(piece)
            reply = self.socket.recv(reply_bytes)
            while len(reply) < reply_bytes:
                reply += self.socket.recv(reply_bytes - len(reply))
            ones += reply.count(b":1")
        return ones

    def processor_time(self):
        """Seconds that the server's main thread has worked."""
        fields = dict(line.split(b":") for line in self.call("INFO", "cpu").split(b"\r\n") if b":" in line)
        return float(fields[b"used_cpu_user_main_thread"]) + float(fields[b"used_cpu_sys_main_thread"])


# Members have even numbers, non-members odd ones; all have sixteen digits.


def member(i):
    return b"%016d" % (2 * (i * 7368787 % 2**40))


def non_member(i):
    return b"%016d" % (2 * (i * 7368787 % 2**40) + 1)


def encode_items(items):
    return b"".join(b"$16\r\n%s\r\n" % item for item in items)
