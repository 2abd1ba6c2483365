#!/usr/bin/python3
"""Prints what the command line answers to every case in transcript/*.cases.

transcript.py PERHAPS MODULE.so > FILE             the transcript
transcript.py PERHAPS MODULE.so --compare FILE     differences from a recorded one, and status 1 if there are any
transcript.py PERHAPS MODULE.so --only GROUP       the cases of one file

Each file of cases is a group, and runs in a folder of its own, which begins with what
inputs.setup makes. A line is one of:

  # TEXT           a heading
  = COMMAND        prepares: runs in the shell, must succeed, is not shown
  @NAME WORDS...   a list: each later line with {NAME} runs once for every word; the words may be
                   separated by ' | ' if they have blanks
  COMMAND          a case: a line for the shell, where 'perhaps' is the program under test

Cases have URLs of two servers, one with the module and one without: $at is redis:// with it, $bits
is redis+bits:// without it. $bits_at and $plain are the same the other way round: the module is
there but not asked for, and asked for but not there. Where $gone and $gonebits point is no server.

Of a case the transcript has the command line, then standard output ('| '), standard error ('! '),
the files that it made ('+ '), changed ('~ ') or took away ('- '), and the exit status ('= '). What
is long or binary is shown as its length and SHA-256. Of files whose names begin with 'random' only
the length is shown. Whatever differs from run to run is replaced by UNSTABLE below, and nowhere
else.
"""
import argparse
import ctypes
import difflib
import hashlib
import itertools
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / 'transcript'
MOST_LINES = 48
SECONDS = 20
NOT_POSSIBLE = 77  # ctest: skipped

# What differs from run to run or from machine to machine: what stands there, and what is shown for
# it. Ports of servers, the folder and the version are added when they are known.
UNSTABLE = [
    (r'\d+\.\d\d s, [\d,]+ lines a second', 'TIME s, RATE lines a second'),
    (r'"seconds": [-+.e\d]+', '"seconds": TIME'),
    (r'"lines_per_second": [-+.e\d]+', '"lines_per_second": RATE'),
    (r'"memory_bytes": \d+', '"memory_bytes": MEMORY'),
    (r'[\d.]+ [KMG]iB of memory', 'MEMORY of memory'),
    (r'code for \w+', 'code for ISA'),
    (r'"isa": "\w+"', '"isa": "ISA"'),
]


class Server:
    """A redis-server on a free port of 127.0.0.1."""

    def __init__(self, folder, *arguments):
        for _ in range(20):
            self.port = free_port()
            self.process = subprocess.Popen(
                ['redis-server', '--port', str(self.port), '--bind', '127.0.0.1', '--dir', str(folder), '--save', '',
                 *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self.answers():
                return
            self.stop()
        sys.exit('transcript.py: no redis-server would start with ' + ' '.join(arguments))

    def answers(self):
        for _ in range(200):
            if self.process.poll() is not None:
                return False
            try:
                with socket.create_connection(('127.0.0.1', self.port), 1) as connection:
                    connection.sendall(b'PING\r\n')
                    if connection.recv(64).startswith(b'+PONG'):
                        return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def forget_all(self):
        with socket.create_connection(('127.0.0.1', self.port), 5) as connection:
            connection.sendall(b'FLUSHALL\r\n')
            connection.recv(64)

    def stop(self):
        self.process.kill()
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def respect_permissions():
    """Lets permissions hold for the cases even if root runs them: programs that are started from
    here on may not read and write everything."""
    if os.geteuid() == 0:
        drop_from_bounding_set, capabilities = 24, (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        for capability in capabilities:
            ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def digest(data):
    return '%d bytes, sha256 %s' % (len(data), hashlib.sha256(data).hexdigest()[:12])


class Folder:
    """The files in a folder, and what a case did to them. Their times do not tell: a file that is
    changed through a mapping may keep them."""

    def __init__(self, path):
        self.path = path
        self.files = self.look()

    def look(self):
        return {str(file.relative_to(self.path)): self.content(file)
                for file in sorted(self.path.rglob('*')) if file.is_file()}

    def content(self, file):
        if file.name.startswith('random'):
            return '%d bytes' % file.stat().st_size
        try:
            return digest(file.read_bytes())
        except PermissionError:
            return 'not readable'

    def changes(self):
        before, self.files = self.files, self.look()
        for name in sorted(before.keys() | self.files.keys()):
            if name not in self.files:
                yield '- ' + name
            elif before.get(name) != self.files[name]:
                yield '%s %s: %s' % ('~' if name in before else '+', name, self.files[name])


class Transcript:
    def __init__(self, perhaps, unstable):
        self.perhaps = perhaps
        self.unstable = [(re.compile(pattern), shown) for pattern, shown in unstable]
        self.lines = []

    def say(self, line):
        self.lines.append(line)

    def stable(self, text):
        for pattern, shown in self.unstable:
            text = pattern.sub(shown, text)
        return text

    def stream(self, mark, data):
        """Text is shown line by line, anything else as a digest."""
        if not data:
            return
        try:
            text = self.stable(data.decode())
        except UnicodeDecodeError:
            text = None
        if text is None or re.search(r'[\x00-\x08\x0b-\x1f\x7f]', text):
            self.say('%s (binary: %s)' % (mark, digest(data)))
        elif text.count('\n') > MOST_LINES:
            self.say('%s (%d lines: %s)' % (mark, text.count('\n'), digest(text.encode())))
        else:
            for line in text.splitlines():
                self.say('%s %s' % (mark, line))
            if not text.endswith('\n'):
                self.say(mark + ' (no line end)')


class Group:
    """One file of cases."""

    def __init__(self, transcript, name, folder, environment):
        self.transcript = transcript
        self.name = name
        self.environment = environment
        self.path = folder / name
        self.path.mkdir()
        self.lists = {}
        self.number = 0
        self.read(CASES / 'inputs.setup')
        self.folder = Folder(self.path)
        self.read(CASES / (name + '.cases'))

    def read(self, file):
        for line in file.read_text().splitlines():
            if line.startswith('@'):
                name, words = line[1:].split(None, 1)
                self.lists[name] = words.split(' | ') if ' | ' in words else words.split()
            elif line.startswith('# '):
                self.transcript.say('\n' + line)
            elif line.startswith('= '):
                for command in self.expanded(line[2:]):
                    self.prepare(command)
            elif line:
                for command in self.expanded(line):
                    self.case(command)

    def expanded(self, line):
        names = [name for name in self.lists if '{%s}' % name in line]
        for words in itertools.product(*(self.lists[name] for name in names)):
            command = line
            for name, word in zip(names, words):
                command = command.replace('{%s}' % name, word)
            yield command

    def run(self, command):
        process = subprocess.Popen(['/bin/sh', '-c', 'perhaps() { "$PERHAPS" "$@"; }\n' + command], cwd=self.path,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return out, err, 'not ended after %d seconds' % SECONDS
        return out, err, process.returncode

    def prepare(self, command):
        out, err, status = self.run(command)
        if status != 0:
            sys.exit('transcript.py: %s: %s: status %s\n%s%s' % (
                self.name, command, status, out.decode(errors='replace'), err.decode(errors='replace')))
        if hasattr(self, 'folder'):
            self.folder.files = self.folder.look()

    def case(self, command):
        self.number += 1
        say = self.transcript.say
        say('\n[%s %d] %s' % (self.name, self.number, command))
        out, err, status = self.run(command)
        self.transcript.stream('|', out)
        self.transcript.stream('!', err)
        for change in self.folder.changes():
            say(self.transcript.stable(change))
        say('= %s' % status)


def possible(perhaps):
    """Whether the program has all backends; those that it lacks would answer otherwise."""
    if not shutil.which('redis-server'):
        return 'redis-server is not installed'
    for arguments, missing in ((['info', '--at', 'x'], 'without hiredis'),
                               (['build', '-k', 'roaring', '-o', '-', '/dev/null'], 'without libroaring')):
        if missing.encode() in subprocess.run([perhaps, *arguments], capture_output=True).stderr:
            return 'the program was built ' + missing
    return None


def environment_of(perhaps, folder, module_server, plain_server):
    ports = {'PORT': module_server.port, 'PLAIN': plain_server.port, 'GONE': free_port()}
    urls = {'at': 'redis://127.0.0.1:%d' % ports['PORT'], 'bits': 'redis+bits://127.0.0.1:%d' % ports['PLAIN'],
            'bits_at': 'redis+bits://127.0.0.1:%d' % ports['PORT'], 'plain': 'redis://127.0.0.1:%d' % ports['PLAIN'],
            'gone': 'redis://127.0.0.1:%d' % ports['GONE'], 'gonebits': 'redis+bits://127.0.0.1:%d' % ports['GONE'],
            'at_port': str(ports['PORT']), 'bits_port': str(ports['PLAIN'])}
    kept = {name: value for name, value in os.environ.items() if name in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS')}
    return dict(kept, PERHAPS=perhaps, LC_ALL='C', TZ='UTC', TMPDIR=str(folder), HOME=str(folder), **urls), ports


def record(perhaps, module, only):
    version = subprocess.run([perhaps, 'version'], capture_output=True, text=True).stdout.split()[-1]
    respect_permissions()
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None  # where fsync costs nothing
    with tempfile.TemporaryDirectory(dir=memory) as name:
        folder = pathlib.Path(name)
        (folder / '.servers').mkdir()
        servers = []
        try:
            servers.append(Server(folder / '.servers', '--loadmodule', module, 'hash-key', '0123456789abcdef' * 2))
            servers.append(Server(folder / '.servers'))
            environment, ports = environment_of(perhaps, folder, *servers)
            unstable = [(r'127\.0\.0\.1:%d\b' % port, '127.0.0.1:' + shown) for shown, port in ports.items()]
            unstable += [(re.escape(str(folder)), 'FOLDER'), (r'\b%s\b' % re.escape(version), 'VERSION')]
            transcript = Transcript(perhaps, unstable + UNSTABLE)
            for file in sorted(CASES.glob('*.cases')):
                if only in (None, file.stem):
                    transcript.say('\n' + '-' * 20 + ' ' + file.stem + ' ' + '-' * 20)
                    Group(transcript, file.stem, folder, environment)
                    for server in servers:
                        server.forget_all()
            return '\n'.join(transcript.lines).lstrip('\n') + '\n'
        finally:
            for server in servers:
                server.stop()
            subprocess.run(['chmod', '-R', 'u+rwX', name])


def compare(new, file):
    old = pathlib.Path(file).read_text()
    if new == old:
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), 'recorded', 'now'))
    print('\nThe answers have changed. If they should, record them anew:\n  %s %s > %s' % (
        sys.argv[0], ' '.join(sys.argv[1:3]), file))
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('perhaps')
    parser.add_argument('module')
    parser.add_argument('--compare', metavar='FILE')
    parser.add_argument('--only', metavar='GROUP')
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers are ended
    perhaps, module = os.path.abspath(arguments.perhaps), os.path.abspath(arguments.module)
    why_not = possible(perhaps)
    if why_not:
        print('skipped:', why_not)
        return NOT_POSSIBLE
    new = record(perhaps, module, arguments.only)
    if arguments.compare:
        return compare(new, arguments.compare)
    sys.stdout.write(new)
    return 0


if __name__ == '__main__':
    sys.exit(main())
