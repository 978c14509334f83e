"""A program that closes all descriptors, as who daemonizes does, gets their numbers back: none is ours any more."""

import own_process

BEGIN = """
import os, socket, sys
from tfmemwatch.monitor.control_socket import ControlSocket
from tfmemwatch.outputs.server import Server
from tfmemwatch.outputs.worker_lock import Lock

server, door = Server(lambda accept: (b"", "")), ControlSocket(sys.argv[1], {})
lock = Lock(os.path.join(sys.argv[1], "tfmemwatch0.lock"))
server.start(); door.open(); print(lock.take())
visitors = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
while len(server._visitors) < 3:
    pass
numbers = max(map(int, os.listdir("/proc/self/fd"))) + 1
os.closerange(3, 256)
"""

FILES = """
files = [open(os.path.join(sys.argv[1], str(number)), "w") for number in range(numbers + 10)]
server._thread.join(10)
print(server._thread.is_alive(), lock.is_ours)
server.stop(); door.close(); lock.give_back()
del server, door, lock
for file in files:
    file.write("mine")
    file.close()
sys.stdout.flush()
os._exit(0)
"""

SOCKETS = """
listeners = [socket.socket() for _ in range(numbers + 10)]
for listener in listeners:
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    listener.settimeout(10)
for place in [listener.getsockname() for listener in listeners]:
    visitors.append(socket.create_connection(place))
door.look()
server._thread.join(10)
print(server._thread.is_alive())
print(sum(listener.accept()[0].fileno() > 0 for listener in listeners) == len(listeners))
server.stop(); door.close()
print(all(listener.getsockname()[1] for listener in listeners), flush=True)
os._exit(0)
"""


def test_what_the_program_closed_is_not_closed_again(tmp_path):
    """A number that was ours is the program's file by now: neither stop() nor a forked child closes it."""
    assert own_process.said(BEGIN + FILES, str(tmp_path)) == [
        "True", "False False",
    ]  # fmt: skip


def test_nobody_who_calls_the_program_is_answered_by_the_watch(tmp_path):
    """A number that was ours may be a port of the program's: its visitors are its own."""
    assert own_process.said(BEGIN + SOCKETS, str(tmp_path)) == ["True", "False", "True", "True"]
