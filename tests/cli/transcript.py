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
Groups whose names begin with 'cluster' have a cluster of three in the place of each server.

Of a case the transcript has the command line ('$ '), then standard output ('| '), standard error
('! '), the files that it made ('+ '), changed ('~ ') or took away ('- '), servers on which it changed
something ('~ '), and the exit status ('= '). Cases that follow each other and have the same answer stand together. What is binary is shown
as its length and SHA-256; of what is long there are the first lines and those. Of files whose names
begin with 'random' only the length is shown. Whatever differs from run to run is replaced by UNSTABLE
below, and nowhere else.
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


def bound_socket():
    """A socket with a port of five digits, so that what is aligned beside it stays where it is."""
    while True:
        made = socket.socket()
        made.bind(('127.0.0.1', 0))
        if made.getsockname()[1] >= 10000:
            return made
        made.close()


def free_port():
    with bound_socket() as probe:
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
        self.path = str(path)
        self.files = self.look()

    def look(self):
        return {os.path.relpath(entry.path, self.path) if folder != self.path else entry.name: content(entry.path)
                for folder, entry in entries(self.path) if entry.is_file()}

    def changes(self):
        before, self.files = self.files, self.look()
        for name in sorted(before.keys() | self.files.keys()):
            if name not in self.files:
                yield '- ' + name
            elif before.get(name) != self.files[name]:
                yield '%s %s: %s' % ('~' if name in before else '+', name, self.described(name))

    def described(self, name):
        if self.files[name] is None:
            return 'not readable'
        return '%d bytes' % len(self.files[name]) if name.startswith('random') else digest(self.files[name])


def entries(path):
    with os.scandir(path) as found:
        for entry in found:
            yield path, entry
            if entry.is_dir(follow_symlinks=False):
                yield from entries(entry.path)


def content(path):
    try:
        file = os.open(path, os.O_RDONLY)
    except PermissionError:
        return None
    try:
        return os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)


class Transcript:
    def __init__(self, unstable):
        self.unstable = [(re.compile(pattern), shown) for pattern, shown in unstable]
        self.lines = []
        self.cases = 0
        self.answer = None

    def heading(self, text):
        self.lines += ['', text]
        self.answer = None

    def case(self, command, out, err, changes, status):
        answer = [*self.stream('|', out), *self.stream('!', err), *map(self.stable, changes), '= %s' % status]
        if answer == self.answer:
            self.lines.insert(-len(answer), '$ ' + command)
        else:
            self.lines += ['', '$ ' + command, *answer]
        self.answer = answer
        self.cases += 1

    def stable(self, text):
        text = re.sub(r'\b\d+\.\d{10,}(e[-+]?\d+)?', lambda number: '%.9g' % float(number.group()), text)
        for pattern, shown in self.unstable:
            text = pattern.sub(shown, text)
        return text

    def stream(self, mark, data):
        """Text is shown line by line, anything else as a digest."""
        try:
            text = self.stable(data.decode())
        except UnicodeDecodeError:
            text = '\0'
        if re.search(r'[\x00-\x08\x0b-\x1f\x7f]', text):
            return ['%s (binary: %s)' % (mark, digest(data))]
        lines = text.splitlines(True)
        shown = lines if len(lines) <= MOST_LINES else lines[:FIRST_LINES]
        said = ['%s %s' % (mark, line.rstrip('\n')) for line in shown]
        if len(shown) < len(lines):
            said.append('%s (%d more lines: %s)' % (mark, len(lines) - len(shown), digest(text.encode())))
        if text and not text.endswith('\n'):
            said.append(mark + ' (no line end)')
        return said

    def text(self):
        return '\n'.join(self.lines).lstrip('\n') + '\n'


class Group:
    """One file of cases."""

    def __init__(self, transcript, name, folder, servers, environment):
        self.transcript = transcript
        self.name = name
        self.environment = environment
        self.path = folder / name
        self.path.mkdir()
        self.lists = {}
        self.read(CASES / 'inputs.setup')
        self.folder = Folder(self.path)
        self.data = Data(servers)
        self.read(CASES / (name + '.cases'))

    def read(self, file):
        for line in file.read_text().splitlines():
            if line.startswith('@'):
                name, words = line[1:].split(None, 1)
                self.lists[name] = words.split(' | ') if ' | ' in words else words.split()
            elif line.startswith('# '):
                self.transcript.heading(line)
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
            list(self.changes(command))

    def case(self, command):
        out, err, status = self.run(command)
        self.transcript.case(command, out, err, self.changes(command), status)

    def changes(self, command):
        yield from self.folder.changes()
        if re.search(r'\$(at|bits|plain)', command):
            yield from self.data.changes()


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
    """The servers of a group, by the names that the transcript shows for their ports."""

    def __init__(self, name, folder, module):
        self.started = {}
        # Bound, but not listening: it refuses, and nobody else gets the port.
        self.nobody = bound_socket()
        with_module = ['--loadmodule', module, 'hash-key', '0123456789abcdef' * 2]
        begin = self.cluster if name.startswith('cluster') else self.single
        try:
            begin(folder, 'PORT', with_module)
            begin(folder, 'PLAIN', [])
        except BaseException:
            self.stop()
            raise

    def single(self, folder, shown, arguments):
        self.started[shown] = Server(folder, '--enable-debug-command', 'local', *arguments)

    def cluster(self, folder, shown, arguments):
        names = [shown, shown + '2', shown + '3']
        slots = ['0 5460', '5461 10922', '10923 16383']
        for number, name in enumerate(names):
            self.single(folder, name, ['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000', *arguments])
            self.started[name].ask('CLUSTER ADDSLOTSRANGE ' + slots[number])
            self.started[name].ask('CLUSTER SET-CONFIG-EPOCH %d' % (number + 1))
            self.started[name].ask('CLUSTER MEET 127.0.0.1 %d' % self.started[shown].port)
        for name in names:
            self.wait_for_cluster(self.started[name])

    def wait_for_cluster(self, node):
        for _ in range(1000):
            answer = node.ask('CLUSTER INFO')
            if b'cluster_state:ok' in answer and b'cluster_known_nodes:3' in answer:
                return
            time.sleep(0.02)
        sys.exit('transcript.py: no cluster would form')

    def ports(self):
        return dict({shown: server.port for shown, server in self.started.items()}, GONE=self.nobody.getsockname()[1])

    def stop(self):
        for server in self.started.values():
            server.stop()


class Data:
    """What servers hold, and what a case did to that."""

    def __init__(self, servers):
        self.servers = servers
        self.sums = self.look()

    def look(self):
        return {shown: server.ask('DEBUG DIGEST').split()[0].decode() for shown, server in self.servers.started.items()}

    def changes(self):
        before, self.sums = self.sums, self.look()
        for shown, sum_now in self.sums.items():
            if sum_now != before[shown]:
                yield '~ server %s: digest %s' % (shown, sum_now[1:13])


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
            transcript = Transcript(unstable_of(perhaps, folder, servers.ports()))
            Group(transcript, name, folder, servers, environment_of(perhaps, folder, servers.ports()))
            return name, transcript.cases, transcript.text()
        except SystemExit as reason:
            return name, 0, reason
        finally:
            servers.stop()
            subprocess.run(['chmod', '-R', 'u+rwX', temporary])


def all_answers(groups, perhaps, module):
    """Each group's answers, as they come; the longest groups begin first."""
    groups = sorted(groups, key=lambda name: -(CASES / (name + '.cases')).stat().st_size)
    workers = min(os.cpu_count() + 1, 5)  # one more, since some wait for servers
    with multiprocessing.Pool(workers, end_with_parent) as pool:
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
    arguments = parser.parse_intermixed_args()
    perhaps, module = os.path.abspath(arguments.perhaps), os.path.abspath(arguments.module)
    why_not = possible(perhaps)
    if why_not:
        print('skipped:', why_not)
        return NOT_POSSIBLE
    respect_permissions()
    cases, changed = 0, []
    groups = arguments.groups or [file.stem for file in CASES.glob('*.cases')]
    for name, number, new in all_answers(groups, perhaps, module):
        cases += number
        if isinstance(new, SystemExit):
            print(new)
            changed.append(name)
            continue
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
