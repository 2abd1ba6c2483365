"""Do the pages on the server tell the truth? Their blocks are run in order, against a server for each page.

```redis     lines after "> " are typed into redis-cli; what follows must be the reply. "..." stands for any text, and
             alone on a line for any lines
```console   lines after "$ " are typed into a shell with perhaps on the PATH; what follows as above
```python    programs; they must end well
```js

Port 6379 stands for that of the server.
"""

import os
import re
import subprocess
import sys

import test_clients
from harness import CLI, ROOT, ServerTest, main, wait_for

PERHAPS = os.environ.get("PERHAPS", os.path.join(ROOT, "build/release/cli/perhaps"))


def blocks(page):
    """(language, text) of all marked blocks of a page."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as file:
        return re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S)


def steps(text, prompt):
    """(command, expected reply) of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith(prompt):
            found.append((line[len(prompt):], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(reply)) for command, reply in found]


def pattern(expected):
    """What a reply must match."""
    return re.compile(r"\A" + re.escape(expected).replace(r"\.\.\.", ".*") + r"\Z", re.S)


class Pages(ServerTest):
    def run_words(self, words, text=None, folder=None, path=os.environ["PATH"]):
        """Status and output."""
        done = subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              cwd=folder or self.folder, env={**os.environ, "PATH": path}, timeout=120)
        return done.returncode, done.stdout.rstrip("\n")

    def compare(self, block, prompt, run):
        for command, expected in steps(block, prompt):
            with self.subTest(command):
                self.assertRegex(run(command)[1], pattern(expected))

    def run_redis(self, block):
        words = CLI + ["--no-raw", "-c", "-p", str(self.port)]
        self.compare(block, "> ", lambda command: self.run_words(words, command + "\n"))

    def run_console(self, block):
        path = os.path.dirname(PERHAPS) + ":" + os.environ["PATH"]
        self.compare(block, "$ ", lambda command: self.run_words(["sh", "-c", command], path=path))

    def run_program(self, block, words, folder=None):
        status, output = self.run_words(words, block, folder)
        self.assertEqual(status, 0, f"{block}\n{output}")

    def run_python(self, block):
        self.run_program(block, [sys.executable, "-"])

    def run_js(self, block):
        test_clients.Npm.install()
        self.run_program(block, ["node", "--input-type=module", "-"], test_clients.NPM_FOLDER)

    def run_page(self, page, server):
        self.port, self.folder = server.port, server.folder
        run = {"redis": self.run_redis, "console": self.run_console, "python": self.run_python, "js": self.run_js}
        found = [(language, text) for language, text in blocks(page) if language in run]
        self.assertGreater(len(found), 1, f"{page} has more blocks")
        for language, text in found:
            run[language](text.replace("6379", str(server.port)))

    def test_server(self):
        self.run_page("server.md", self.server())

    def test_cluster(self):
        server = self.server("--cluster-enabled", "yes")
        server.cli("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: "cluster_state:ok" in server.cli("CLUSTER", "INFO"), "the cluster has all slots")
        self.run_page("cluster.md", server)


if __name__ == "__main__":
    main()
