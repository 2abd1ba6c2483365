"""Do the pages on the server tell the truth? Their blocks are run in order, against a server for each page.

```redis     lines after "> " are typed into redis-cli; what follows must be the reply. "..." stands for any text, and
             alone on a line for any lines
```redis3    the same with lines after "3> " and redis-cli -3
```console   lines after "$ " are typed into a shell with perhaps on the PATH; what follows as above
```python    programs; they must end well
```js

Port 6379 stands for that of the server. And every command of the module has its place on one page, with its arguments
and with what COMMAND DOCS says of it.
"""

import glob
import os
import re
import subprocess
import sys

import test_clients
from harness import CLI, ROOT, ServerTest, main, wait_for

sys.path.insert(0, os.path.join(ROOT, "tests/docs"))
from console import pattern, steps

PERHAPS = os.environ.get("PERHAPS", os.path.join(ROOT, "build/release/cli/perhaps"))


# What redis-cli adds to a reply that took half a second.
SLOW = re.compile(r"\n\(\d+\.\d\ds\)$", re.M)


def blocks(page):
    """(language, text) of all marked blocks of a page."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as file:
        return re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S)


def pairs(flat):
    """The map that an array of names and values is, with text for bytes."""
    text = [value.decode() if isinstance(value, bytes) else value for value in flat]
    return dict(zip(text[::2], text[1::2]))


def shown(argument):
    """An argument of COMMAND DOCS, as pages write it."""
    a = pairs(argument)
    between = " | " if a["type"] == "oneof" else " "
    name = between.join(map(shown, a["arguments"])) if "arguments" in a else a["name"]
    flags = [str(flag) for flag in a.get("flags", [])]
    words = [a["token"]] if "token" in a else []
    if a["type"] != "pure-token":
        words.append(f"{name} [{name} ...]" if "multiple" in flags else name)
    return f"[{' '.join(words)}]" if "optional" in flags else " ".join(words)


class Pages(ServerTest):
    def run_words(self, words, text=None, folder=None, path=os.environ["PATH"]):
        """Status and output."""
        done = subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              cwd=folder or self.folder, env={**os.environ, "PATH": path}, timeout=120)
        return done.returncode, SLOW.sub("", done.stdout.rstrip("\n"))

    def compare(self, block, prompt, run):
        for command, expected in steps(block, prompt):
            with self.subTest(command):
                self.assertRegex(run(command)[1], pattern(expected))

    def run_redis(self, block, prompt="> ", options=()):
        words = CLI + ["--no-raw", "-c", *options, "-p", str(self.port)]
        self.compare(block, prompt, lambda command: self.run_words(words, command + "\n"))

    def run_redis3(self, block):
        self.run_redis(block, "3> ", ["-3"])

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

    def run_page(self, page, server, needs=""):
        """Runs the blocks of a page that contain the text `needs`."""
        self.port, self.folder = server.port, server.folder
        run = {"redis": self.run_redis, "redis3": self.run_redis3, "console": self.run_console, "python": self.run_python,
               "js": self.run_js}
        found = [(language, text) for language, text in blocks(page) if language in run and needs in text]
        self.assertGreater(len(found), 1, f"{page} has more blocks")
        for language, text in found:
            run[language](text.replace("6379", str(server.port)))

    def test_server(self):
        for path in sorted(glob.glob(os.path.join(ROOT, "docs/server*.md"))):
            with self.subTest(path):
                server = self.server()
                self.run_page(os.path.basename(path), server)

    def test_commands(self):
        client = self.server().client()
        told = {}
        for path in glob.glob(os.path.join(ROOT, "docs/server*.md")):
            with open(path, encoding="utf-8") as file:
                for name, *rest in re.findall(r"^### ([A-Z]+\.[A-Z]+)\n\n    (.*)\n\n\*Since (.*?)\. (.*)\.\*\n", file.read(), re.M):
                    self.assertNotIn(name, told)
                    told[name] = rest
        names = [name.decode().upper() for name in client.ok("COMMAND", "LIST", "FILTERBY", "MODULE", "perhaps")]
        self.assertEqual(sorted(told), sorted(names))
        for name in names:
            with self.subTest(name):
                docs = pairs(client.ok("COMMAND", "DOCS", name)[1])
                syntax, since, complexity = told[name]
                self.assertEqual([since, complexity], [docs["since"], docs["complexity"]])
                self.assertEqual(" ".join([name, *map(shown, docs["arguments"])]), syntax)

    def test_recipes(self):
        self.run_page("recipes.md", self.server(), needs="6379")

    def test_cluster(self):
        server = self.server("--cluster-enabled", "yes")
        server.cli("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: "cluster_state:ok" in server.cli("CLUSTER", "INFO"), "the cluster has all slots")
        self.run_page("cluster.md", server)


if __name__ == "__main__":
    main()
