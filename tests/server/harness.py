"""Real servers for the tests: started on free ports of 127.0.0.1 with folders of their own, and always stopped.

PERHAPS_MODULE         the module; build/release/server/perhaps.so if not said
PERHAPS_TEST_SERVER    the server program, redis-server if not said
PERHAPS_TEST_CLI       its command line, redis-cli if not said
PERHAPS_TEST_PRELOAD   a library that the server loads at its start: ASan's, if the module has ASan inside
PERHAPS_TEST_SIZE      small, normal (the default), or long
"""

import atexit
import contextlib
import ctypes
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from resp import Client, Error

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULE = os.environ.get("PERHAPS_MODULE", os.path.join(ROOT, "build/release/server/perhaps.so"))
SERVER = shlex.split(os.environ.get("PERHAPS_TEST_SERVER", "redis-server"))
CLI = shlex.split(os.environ.get("PERHAPS_TEST_CLI", "redis-cli"))
PRELOAD = os.environ.get("PERHAPS_TEST_PRELOAD", "")
COMMAND_LINE = os.environ.get("PERHAPS", os.path.join(os.path.dirname(os.path.dirname(MODULE)), "cli/perhaps"))
LONG = os.environ.get("PERHAPS_TEST_SIZE") == "long"
PATIENCE = 60 if PRELOAD else 20  # seconds until a server must be ready

ASAN_OPTIONS = ("verify_asan_link_order=0:detect_leaks=0:allocator_may_return_null=1:detect_odr_violation=0:"
                "handle_segv=0:abort_on_error=1:max_allocation_size_mb=4096")
DEATHS = ("AddressSanitizer", "runtime error:", "BUG REPORT", "ASSERTION FAILED", "Guru Meditation")
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """Runs in the new process: not even a killed test leaves servers behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def server_version():
    """Of the server program: redis or valkey, and the first two numbers of its version."""
    said = subprocess.run(SERVER + ["--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    name, version = re.match(r"(\w+) server v=(\d+\.\d+)", said, re.IGNORECASE).groups()
    return name.lower(), tuple(int(part) for part in version.split("."))


def can_bind(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port():
    """A port that is free, as is the one 10,000 above it that the cluster's bus takes. Both lie below those that
    the system gives to outgoing connections."""
    while True:
        port = random.SystemRandom().randrange(12000, 22700)
        if can_bind(port) and can_bind(port + 10000):
            return port


def wait_for(condition, what, patience=PATIENCE):
    """Waits until condition() is true, and returns what it returned."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {patience} s in vain until {what}")
        time.sleep(0.01)


class Server:
    """A server in a folder of its own, which outlives restarts."""

    everything = []

    def __init__(self, *options, module=True, arguments=(), config=None, before=None, wait=True):
        """`config` is a file of settings, `before` another module that is loaded before."""
        self.config, self.before = config, before
        self.options = [str(option) for option in options]
        self.arguments = [str(argument) for argument in arguments]
        self.module = MODULE if module is True else module
        self.folder = tempfile.mkdtemp(prefix="perhaps-server-")
        self.log_path = os.path.join(self.folder, "log")
        self.process = None
        self.clients = []
        Server.everything.append(self)
        self.start(wait)

    def command(self):
        words = SERVER + ([self.config] if self.config else [])
        words += ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--daemonize", "no",
                  "--save", "", "--enable-debug-command", "yes"] + self.options
        if self.before:
            words += ["--loadmodule", self.before]
        if self.module:
            words += ["--loadmodule", self.module] + self.arguments
        return words

    def environment(self):
        values = dict(os.environ)
        if PRELOAD:
            values.update(LD_PRELOAD=PRELOAD, ASAN_OPTIONS=ASAN_OPTIONS, UBSAN_OPTIONS="print_stacktrace=1")
        return values

    def start(self, wait=True):
        self.port = getattr(self, "port", None) or free_port()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            cwd=self.folder, env=self.environment(), preexec_fn=die_with_parent)
        if wait:
            self.wait()

    def wait(self):
        """Until it answers and has loaded its data. Returns the server."""
        wait_for(self.is_ready, f"the server on port {self.port} is ready")
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            if "Address already in use" in self.log():
                self.port = None
                self.start(wait=False)
                return False
            raise AssertionError(f"the server ended at once:\n{self.log()}")
        with contextlib.suppress(OSError, ConnectionError):
            with Client(self.port, timeout=PATIENCE) as client:
                return client("PING") == "PONG"
        return False

    def client(self, protocol=2, timeout=PATIENCE):
        client = Client(self.port, protocol, timeout)
        self.clients.append(client)
        return client

    def cli(self, *words, check=True):
        """The server's own command line, with its output as text."""
        done = subprocess.run(CLI + ["-p", str(self.port)] + [str(word) for word in words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(done.args)}:\n{done.stdout}")
        return done.stdout

    def log(self):
        with contextlib.suppress(OSError), open(self.log_path, errors="replace") as log:
            return log.read()
        return ""

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def end(self, number):
        for client in self.clients:
            client.close()
        self.clients = []
        if self.is_running():
            self.process.send_signal(number)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not end:\n{self.log()[-4000:]}")

    def kill(self):
        self.end(signal.SIGKILL)

    def stop(self):
        """Ends it, and complains if it had ended by itself or said that something is wrong."""
        died = self.process and not self.is_running()
        self.end(signal.SIGTERM)
        self.check_log()
        if died:
            raise AssertionError(f"the server died:\n{self.log()[-4000:]}")

    def check_log(self):
        log = self.log()
        for death in DEATHS:
            if death in log:
                around = log[max(0, log.index(death) - 200):][:6000]
                raise AssertionError(f"the server's log speaks of {death}:\n{around}")

    def restart(self, save=False):
        """Ends it, by SHUTDOWN SAVE or by SIGKILL, and starts it in the same folder."""
        if save:
            client = self.client()
            with contextlib.suppress(ConnectionError):
                reply = client("SHUTDOWN", "SAVE")
                raise AssertionError(f"SHUTDOWN SAVE: {reply}")
            self.end(signal.SIGTERM)
        else:
            self.kill()
        self.start()


def clean_up():
    for server in Server.everything:
        if server.is_running():
            server.process.kill()
            server.process.wait()
        shutil.rmtree(server.folder, ignore_errors=True)


atexit.register(clean_up)
for _number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, lambda number, _: sys.exit(128 + number))


def start_all(number, *options, **settings):
    """Several servers, starting at the same time."""
    servers = [Server(*options, wait=False, **settings) for _ in range(number)]
    return [server.wait() for server in servers]


def info(client, section, name):
    """One figure of INFO as text; None if it is not there."""
    for line in client.ok("INFO", section).decode().split("\r\n"):
        if line.startswith(name + ":"):
            return line[len(name) + 1:]
    return None


def chunks(client, command, key, first=0):
    """All that SCANDUMP gives, as a list of (cursor, bytes)."""
    pieces, cursor = [], first
    while True:
        cursor, piece = client.ok(command, key, cursor)
        if cursor == 0:
            return pieces
        pieces.append((cursor, piece))


def image(client, key, count=None):
    """The whole image that PERHAPS.DUMP gives."""
    pieces, offset = [], 0
    while True:
        offset, piece = client.ok("PERHAPS.DUMP", key, offset, *(["COUNT", count] if count else []))
        pieces.append(piece)
        if offset == 0:
            return b"".join(pieces)


def items(first, last, prefix=""):
    return [b"%s%d" % (prefix.encode(), i) for i in range(first, last)]


def batches(everything, size=1000):
    return [everything[i:i + size] for i in range(0, len(everything), size)]


def add_all(client, command, key, everything, size=1000):
    """Adds in batches, pipelined; the list of the single answers."""
    answers = []
    for group in batches(batches(everything, size), 50):
        for reply in client.pipeline([command, key, *batch] for batch in group):
            if isinstance(reply, Error):
                raise AssertionError(f"{command} {key}: {reply}")
            answers += reply
    return answers


def query_all(client, command, key, everything):
    """How many of these are there, says the filter."""
    return sum(add_all(client, command, key, everything))


class ServerTest(unittest.TestCase):
    """A test whose servers end with it; shows their logs if it fails."""

    def server(self, *options, **settings):
        server = Server(*options, **settings)
        self.addCleanup(server.stop)
        return server

    def servers(self, number, *options, **settings):
        servers = start_all(number, *options, **settings)
        for server in servers:
            self.addCleanup(server.stop)
        return servers

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        first = len(Server.everything)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            mine = Server.everything[first:] or [getattr(type(self), "shared", None)]
            for server in filter(None, mine):
                print(f"--- the end of the log of the server on port {server.port}:", file=sys.stderr)
                print(server.log()[-3000:], file=sys.stderr)

    def assert_same(self, long, other):
        """Equality of long lists, of which assertEqual would make an endless comparison."""
        if long != other:
            differ = [i for i, (a, b) in enumerate(zip(long, other)) if a != b]
            shown = [(i, repr(long[i])[:200], repr(other[i])[:200]) for i in differ[:3]]
            self.fail(f"{len(long)} and {len(other)} elements, {len(differ)} differ; the first: {shown}")

    def assert_reply(self, reply, expected, message=None):
        """Equal in types, too: 1 is not True, a simple string not a bulk one."""
        self.assertEqual(repr(reply), repr(expected), message)


class SharedServerTest(ServerTest):
    """One server for all tests of a class, emptied before each."""

    options = ()
    layout = "native"

    @classmethod
    def setUpClass(cls):
        cls.shared = Server(*cls.options)
        cls.addClassCleanup(cls.shared.stop)

    def setUp(self):
        if not self.shared.is_running():
            self.shared.start()
        self.client = self.shared.client()
        self.client.ok("FLUSHALL")
        self.client.ok("CONFIG", "SET", "perhaps.layout", self.layout)

    def tearDown(self):
        self.client.close()


def main():
    if not os.path.exists(MODULE):
        sys.exit(f"{MODULE} is not there: build it first, or name another in PERHAPS_MODULE")
    unittest.main(verbosity=2)
