"""console.py FILE: runs a ```console block of a page and compares what it prints.

Lines after "$ " are typed into a shell, in the current folder; a backslash at the end goes on with the next line. What
follows must be what the command prints, on standard output and standard error. "..." stands for any text, and alone on a
line for any lines.
"""

import re
import subprocess
import sys


def steps(text, prompt):
    """(command, expected reply) of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith(prompt):
            found.append(([line[len(prompt):]], []))
        elif found[-1][0][-1].endswith("\\"):
            found[-1][0].append(line)
        else:
            found[-1][1].append(line)
    return [("\n".join(command), "\n".join(reply)) for command, reply in found]


def pattern(expected):
    """What a reply must match."""
    return re.compile(r"\A" + re.escape(expected).replace(r"\.\.\.", ".*") + r"\Z", re.S)


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for command, expected in steps(text, "$ "):
        done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        if not pattern(expected).match(done.stdout.rstrip("\n")):
            sys.exit(f"$ {command}\n{done.stdout}--- and not\n{expected}")


if __name__ == "__main__":
    main(sys.argv[1])
