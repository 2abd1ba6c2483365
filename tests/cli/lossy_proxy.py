"""lossy_proxy.py SERVER-PORT CUTS: stands between a client and a server on this machine, and prints its own port. The first CUTS
connections that have got 20,000 bytes of answers get no more: the server goes on doing what it is told for a while, and then the
connection breaks."""

import socket
import sys
import threading
import time

ENOUGH = 20_000
server, cuts = int(sys.argv[1]), int(sys.argv[2])


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def pass_answers(source, target):
    global cuts
    passed = 0
    try:
        while data := source.recv(4096):
            if cuts > 0 and passed > ENOUGH:
                cuts -= 1
                time.sleep(0.1)
                break
            target.sendall(data)
            passed += len(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client = listener.accept()[0]
    link = socket.create_connection(("127.0.0.1", server))
    threading.Thread(target=pass_on, args=(client, link), daemon=True).start()
    threading.Thread(target=pass_answers, args=(link, client), daemon=True).start()
