"""One file for all: built in Python, read by the command line, by C and by the Redis module.

python3 one_file.py PERHAPS C-PROGRAM [SERVER-PORT]

C-PROGRAM is one_file.c, compiled. With a port, a server with the module listens there.
"""

import os
import socket
import subprocess
import sys
import tempfile

import perhaps

command, program, *port = sys.argv[1:]
path = os.path.join(tempfile.mkdtemp(), "phones.ph")
f = perhaps.Filter(items=1000, fpr=1e-6)
f.add_many([f"1380013{i:04}" for i in range(1000)])
f.save(path)

queries = "13800130007\n13900139000\n"
known = subprocess.run([command, "check", path], input=queries, capture_output=True, text=True).stdout
print("the command line finds:", *known.split())
print("C finds:", *subprocess.run([program, path], input=queries, capture_output=True, text=True).stdout.split())


def ask(connection, *words):
    """One command of RESP, and the line of its reply."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
    return connection.recv(1000).split(b"\r\n")[0].decode()


if port:
    image = bytes(f)
    with socket.create_connection(("127.0.0.1", int(port[0]))) as connection:
        ask(connection, "PERHAPS.LOAD", "phones", 0, len(image), image)
        there = [query for query in queries.split() if ask(connection, "BF.EXISTS", "phones", query) == ":1"]
        print("the server finds:", *there)
