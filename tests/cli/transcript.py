#!/usr/bin/python3
"""Compares what the command line answers to the cases of transcript/*.cases with what was recorded.

transcript.py PERHAPS MODULE.so [GROUP...]             shows differences, and ends with 1 if there are any
transcript.py PERHAPS MODULE.so --record [GROUP...]    records

Each file transcript/GROUP.cases is a group, and transcript/GROUP.txt has its answers. It runs in a
folder of its own, which begins with what inputs.setup makes, and with servers of its own. A line is
one of:

  # TEXT           a heading
  = COMMAND        prepares: runs in the shell, must succeed, is not shown
  @NAME WORDS...   a list: each later line with {NAME} runs once for every word; the words may be
                   separated by ' | ' if they have blanks
  COMMAND          a case: a line for the shell, where 'perhaps' is the program under test

Cases have URLs of two servers, one with the module and one without: $at is redis:// with it, $bits
is redis+bits:// without it. $bits_at and $plain are the same the other way round: the module is
there but not asked for, and asked for but not there. Where $gone and $gonebits point is no server.

Of a case the transcript has the command line ('$ '), then standard output ('| '), standard error
('! '), the files that it made ('+ '), changed ('~ ') or took away ('- '), and the exit status
('= '). What is binary is shown as its length and SHA-256; of what is long there are the first lines
and those. Of files whose names begin with 'random' only the length is shown. Whatever differs from
run to run is replaced by UNSTABLE below, and nowhere else.
"""
import argparse
import ctypes
import difflib
import hashlib
import itertools
import multiprocessing
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
MOST_LINES, FIRST_LINES = 32, 8
SECONDS = 60
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
        environment = dict(os.environ, LD_PRELOAD=sanitizers_of(arguments), ASAN_OPTIONS='detect_leaks=0')
        for _ in range(20):
            self.port = free_port()
            self.folder = folder / str(self.port)
            self.folder.mkdir()
            self.process = subprocess.Popen(
                ['redis-server', '--port', str(self.port), '--bind', '127.0.0.1', '--dir', str(self.folder), '--save',
                 '', *arguments], env=environment, preexec_fn=end_with_parent, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self.answers():
                return
            self.stop()
        sys.exit('transcript.py: no redis-server would start with ' + ' '.join(arguments))

    def answers(self):
        own = b'process_id:%d\r' % self.process.pid  # another server may have taken the port
        for _ in range(1000):
            if self.process.poll() is not None:
                return False
            try:
                if own in self.ask('INFO server'):
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def ask(self, command):
        with socket.create_connection(('127.0.0.1', self.port), 5) as connection:
            connection.sendall(command.encode() + b'\r\nQUIT\r\n')
            answer = b''
            while True:
                part = connection.recv(65536)
                if not part:
                    return answer
                answer += part

    def stop(self):
        self.process.kill()
        self.process.wait()


def sanitizers_of(arguments):
    """The libraries that a module was built to run with, and that a server has not."""
    if '--loadmodule' not in arguments:
        return ''
    needed = subprocess.run(['ldd', arguments[arguments.index('--loadmodule') + 1]], capture_output=True, text=True)
    return ':'.join(re.findall(r'lib(?:a|ub)san\S* => (\S+)', needed.stdout))


def end_with_parent():
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)


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
            return
        lines = text.splitlines(True)
        shown = lines if len(lines) <= MOST_LINES else lines[:FIRST_LINES]
        for line in shown:
            self.say('%s %s' % (mark, line.rstrip('\n')))
        if len(shown) < len(lines):
            self.say('%s (%d more lines: %s)' % (mark, len(lines) - len(shown), digest(''.join(lines).encode())))
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
        say = self.transcript.say
        say('\n$ ' + command)
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


def environment_of(perhaps, folder, ports):
    urls = {name: '%s://127.0.0.1:%d' % (scheme, ports[port]) for name, scheme, port in (
        ('at', 'redis', 'PORT'), ('bits', 'redis+bits', 'PLAIN'), ('bits_at', 'redis+bits', 'PORT'),
        ('plain', 'redis', 'PLAIN'), ('gone', 'redis', 'GONE'), ('gonebits', 'redis+bits', 'GONE'))}
    kept = {name: value for name, value in os.environ.items() if name in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS')}
    return dict(kept, PERHAPS=perhaps, LC_ALL='C', TZ='UTC', TMPDIR=str(folder), HOME=str(folder),
                at_port=str(ports['PORT']), bits_port=str(ports['PLAIN']), **urls)


class Servers:
    """The servers of a group, and their ports by the names that the transcript shows."""

    def __init__(self, name, folder, module):
        self.started = []
        # Bound, but not listening: it refuses, and nobody else gets the port.
        self.nobody = socket.socket()
        self.nobody.bind(('127.0.0.1', 0))
        self.ports = {'GONE': self.nobody.getsockname()[1]}
        with_module = ['--loadmodule', module, 'hash-key', '0123456789abcdef' * 2]
        try:
            self.start(folder, 'PORT', with_module)
            self.start(folder, 'PLAIN', [])
        except BaseException:
            self.stop()
            raise

    def start(self, folder, shown, arguments):
        server = Server(folder, *arguments)
        self.started.append(server)
        self.ports[shown] = server.port

    def stop(self):
        for server in self.started:
            server.stop()


def unstable_of(perhaps, folder, ports):
    version = subprocess.run([perhaps, 'version'], capture_output=True, text=True).stdout.split()[-1]
    return ([(r'127\.0\.0\.1:%d\b' % port, '127.0.0.1:' + shown) for shown, port in ports.items()]
            + [(re.escape(str(folder)), 'FOLDER'), (r'\b%s\b' % re.escape(version), 'VERSION')] + UNSTABLE)


def answers_of(arguments):
    """The transcript of one group."""
    name, perhaps, module = arguments
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None  # where fsync costs nothing
    with tempfile.TemporaryDirectory(dir=memory) as temporary:
        folder = pathlib.Path(temporary)
        (folder / '.servers').mkdir()
        servers = Servers(name, folder / '.servers', module)
        try:
            transcript = Transcript(perhaps, unstable_of(perhaps, folder, servers.ports))
            Group(transcript, name, folder, environment_of(perhaps, folder, servers.ports))
            return name, '\n'.join(transcript.lines).lstrip('\n') + '\n'
        except SystemExit as reason:
            return name, reason
        finally:
            servers.stop()
            subprocess.run(['chmod', '-R', 'u+rwX', temporary])


def all_answers(groups, perhaps, module):
    """Each group's answers, as they come; the longest groups begin first."""
    groups = sorted(groups, key=lambda name: -(CASES / (name + '.cases')).stat().st_size)
    with multiprocessing.Pool(min(os.cpu_count(), 4), end_with_parent) as pool:
        yield from pool.imap_unordered(answers_of, [(name, perhaps, module) for name in groups], 1)


def differences(name, new):
    file = CASES / (name + '.txt')
    old = file.read_text() if file.exists() else ''
    return list(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(file), 'now', n=6))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('perhaps')
    parser.add_argument('module')
    parser.add_argument('groups', nargs='*', metavar='GROUP')
    parser.add_argument('--record', action='store_true')
    arguments = parser.parse_args()
    perhaps, module = os.path.abspath(arguments.perhaps), os.path.abspath(arguments.module)
    why_not = possible(perhaps)
    if why_not:
        print('skipped:', why_not)
        return NOT_POSSIBLE
    respect_permissions()
    cases, changed = 0, []
    for name, new in all_answers(arguments.groups or [file.stem for file in CASES.glob('*.cases')], perhaps, module):
        if isinstance(new, SystemExit):
            print(new)
            changed.append(name)
            continue
        cases += new.count('\n$ ')
        if arguments.record:
            (CASES / (name + '.txt')).write_text(new)
        elif differences(name, new):
            sys.stdout.writelines(differences(name, new))
            changed.append(name)
    print('%d cases' % cases)
    if changed:
        print('The answers have changed. If they should, record them anew:\n  %s %s %s --record %s' % (
            sys.argv[0], arguments.perhaps, arguments.module, ' '.join(sorted(changed))))
    return 1 if changed else 0


if __name__ == '__main__':
    sys.exit(main())
