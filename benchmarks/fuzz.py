"""Throws requests and messages of every kind at a program that is watched, and says whether it took harm.

    python benchmarks/fuzz.py --requests 1000000 --messages 100000 [--seed 7]

The program runs in a process of its own. It has a metrics port, a second one with TLS, and a control socket. What is
thrown: valid requests, broken, cut, doubled, split, slow, huge and binary ones, garbage where TLS is spoken. At the end
the program must answer, `guard` must have counted no failure, and it must have no descriptor or thread more.
The ports take more visitors a second here than they do otherwise (500), or a million would take an hour.
"""

import argparse
import collections
import json
import os
import random
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATIENCE = 30.0  # seconds: an answer that takes longer is a hang

PROGRAM = """
import json, os, sys, threading
import prometheus_client
import tfmemwatch
from tfmemwatch.safety import guard
from tfmemwatch.outputs import server

folder = sys.argv[1]
server._MOST_A_SECOND = 10**9
watch = tfmemwatch.install(port=0, door=folder, sample_seconds=0.001, max_overhead=1.0)
key = os.path.join(folder, "key.pem")
over_tls = None
if os.path.exists(key):
    page = tfmemwatch.api._installations[0].export._port._server._page
    over_tls = server.Server(page, certificate=os.path.join(folder, "cert.pem"), private_key=key)
    over_tls.start()

def state():
    return {"descriptors": len(os.listdir("/proc/self/fd")), "threads": threading.active_count(),
            "failures": guard.failures, "looks": watch.state.looks}

print(json.dumps([tfmemwatch.port(), over_tls and over_tls.port]), flush=True)
for line in sys.stdin:
    print(json.dumps(state()), flush=True)
"""

VALID = (
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /metrics?name[]=up HTTP/1.1\r\nHost: 127.0.0.1:9464\r\nAccept: application/openmetrics-text\r\n\r\n",
    b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Prometheus/2.45\r\nAccept-Encoding: gzip\r\n\r\n",
    b"GET /metrics HTTP/1.0\n\n",
)
STRANGE = (
    b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nxx",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n" % (b"[" * 500),
    b"GET /metrics HTTP/1.1\r\nHost: \xff\xfe\x00\r\nAuthorization: Bearer \xff\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
    b"GET /\x00\r\n\r\n", b"\r\n\r\n", b"\n\n", b" \r\n\r\n", b":\r\n\r\n", b"GET  HTTP/1.1\r\n:\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00" * 100, b"\x80" * 9000,
)  # fmt: skip
QUESTIONS = (
    b'{"what": "nope"}', b"[]", b"{}", b"null", b"5", b'"report"', b'{"what": ["report"]}', b'{"what": {"a": 1}}',
    b'{"what": "remedies", "names": 5}', b'{"what": "remedies", "names": null}', b'{"what": "remedies", "names": [[]]}',
    b'{"what": "remedies", "names": ["reboot"]}', b'{"what": "remedies", "function": []}', b"[" * 4000, b'{"a":' * 700,
    b'{"what": "\xff"}', b"\xff\xfe", b"\x00" * 50, b"x" * 5000, b'{"what": "owners", "x": 1e999}', b"NaN",
    b'{"what": "\\ud800"}', b'{"what": "\\u001b[2J"}', b'{"what": 1' + b"0" * 4050 + b"}", b"", b"\n\n",
)  # fmt: skip


class Thrower:
    """One thread's throws, in an order that its seed tells."""

    def __init__(self, seed, ports, door):
        self.random = random.Random(seed)
        self.port, self.tls_port = ports
        self.door = door
        self.slow = collections.deque()
        self.wrong = []
        self.seen = collections.Counter()

    def request(self):
        """One visit to a port; how many requests it was."""
        chance = self.random.random()
        if self.tls_port and chance < 0.02:
            return self._over_tls()
        if chance < 0.2:
            return self._valid()
        kind, parts = self._broken(chance)
        try:
            one = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        except OSError as error:
            self.wrong.append("connect: %r" % error)
            return 1
        try:
            for part in parts:
                one.sendall(part)
            self._end(one, kind)
        except OSError:  # it was answered and hung up on before all was sent: as it should be
            one.close()
        self.seen[kind] += 1
        return max(1, sum(part.count(b"GET /metrics") for part in parts)) if kind == "many" else 1

    def _valid(self):
        text = self.random.choice(VALID)
        parts = self._split(text) if self.random.random() < 0.3 else [text]
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as one:
                for part in parts:
                    one.sendall(part)
                answer = everything(one)
        except OSError as error:
            self.wrong.append("valid: %r" % error)
            return 1
        head, _, body = answer.partition(b"\r\n\r\n")
        # Without a Host, which HTTP/1.0 may leave out, it is answered too.
        if b" 200 OK\r\n" not in answer[:17] or (text[:4] != b"HEAD" and b"tfmemwatch_looks_total" not in body):
            self.wrong.append("valid: %r" % head)
        self.seen["valid"] += 1
        return 1

    def _broken(self, chance):
        pick = self.random
        if chance < 0.45:
            return "mutated", self._split(self._mutated(pick.choice(VALID)))
        if chance < 0.6:
            return "strange", [pick.choice(STRANGE)]
        if chance < 0.7:
            return "binary", [pick.getrandbits(8 * 300).to_bytes(300, "big")[: pick.randrange(1, 300)]]
        if chance < 0.8:
            return "many", [pick.choice(VALID) * pick.randrange(2, 10)]
        if chance < 0.83:
            return "huge", [b"GET /metrics HTTP/1.1\r\nX: ", b"x" * pick.randrange(8000, 200_000), b"\r\n\r\n"]
        if chance < 0.9:
            return "slow", self._split(self._mutated(pick.choice(VALID)))[:1]
        return "cut", [pick.choice(VALID)[: pick.randrange(1, 40)]]

    def _end(self, one, kind):
        if kind == "slow":  # stays, and says nothing more until it is old
            self.slow.append(one)
            if len(self.slow) > 12:
                self.slow.popleft().close()
            return
        how = self.random.random()
        if how < 0.3:  # not even a goodbye
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how < 0.6 and kind != "cut":
            one.shutdown(socket.SHUT_WR)
            answer = everything(one)
            if b" 500 " in answer[:16]:
                self.wrong.append("%s: %r" % (kind, answer[:80]))
        one.close()

    def _over_tls(self):
        self.seen["tls"] += 1
        pick = self.random
        try:
            with socket.create_connection(("127.0.0.1", self.tls_port), timeout=PATIENCE) as plain:
                if pick.random() < 0.15:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    with context.wrap_socket(plain) as one:
                        one.sendall(pick.choice((*VALID, *STRANGE)))
                        if pick.random() < 0.5:
                            one.recv(10)
                    return 1
                hello = STRANGE[13] if pick.random() < 0.5 else b"\x16\x03\x01"
                for part in self._split(self._mutated(hello)):
                    plain.sendall(part)
                if pick.random() < 0.98:  # else it waits for us until our time is over
                    plain.shutdown(socket.SHUT_WR)
                plain.recv(10)
        except (OSError, ValueError):  # hung up on
            pass
        return 1

    def _mutated(self, text):
        pick, made = self.random, bytearray(text)
        for _ in range(pick.randrange(1, 6)):
            at = pick.randrange(len(made) + 1)
            how = pick.randrange(4)
            if how == 0:
                made[at:at] = bytes([pick.randrange(256)]) * pick.choice((1, 1, 1, 50))
            elif how == 1:
                del made[at : at + pick.randrange(1, 10)]
            elif how == 2 and at < len(made):
                made[at] = pick.randrange(256)
            else:
                made[at:at] = pick.choice((b"\r\n", b"\n", b"\x00", b":", b" ", b"\r\n\r\n"))
        return bytes(made)

    def _split(self, text):
        cuts = sorted(self.random.randrange(len(text) + 1) for _ in range(self.random.randrange(4)))
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)]) if a < b]

    def message(self):
        """One call at the control socket."""
        pick = self.random
        chance = pick.random()
        said = pick.choice(QUESTIONS) if chance < 0.5 else self._mutated(pick.choice(QUESTIONS[:14]))
        must_answer = chance > 0.998
        if must_answer:
            said = json.dumps({"what": pick.choice(("report", "owners", "nope"))}).encode()
        try:
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(self.door)  # waits while others are before us
                one.settimeout(PATIENCE)
                for part in self._split(said):
                    one.sendall(part)
                if not 0.9 < chance < 0.9005:  # else it is slow: the watch waits its second
                    one.sendall(b"\n")
                if must_answer or chance < 0.4:
                    answer = everything(one)
                    if must_answer and not {"answer", "error"} & set(json.loads(answer.decode())):
                        self.wrong.append("%r: %r" % (said[:80], answer[:80]))
        except (OSError, ValueError) as error:
            if must_answer or isinstance(error, socket.timeout):
                self.wrong.append("%r: %r" % (said[:80], error))
        self.seen["message"] += 1
        return 1


def everything(one):
    """All that the other side says."""
    parts = []
    while True:
        part = one.recv(65536)
        if not part:
            return b"".join(parts)
        parts.append(part)


def throw(throwers, many, how):
    """So many, from all threads together."""
    left, lock = [many], threading.Lock()

    def work(thrower):
        while True:
            with lock:
                if left[0] <= 0:
                    return
                left[0] -= 20
            done = 0
            while done < 20:
                done += getattr(thrower, how)()

    began = time.monotonic()
    threads = [threading.Thread(target=work, args=(thrower,)) for thrower in throwers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


def certificate(folder):
    """A certificate for the port with TLS, where there is openssl."""
    if shutil.which("openssl") is None:
        return
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", os.path.join(folder, "key.pem"), "-out", os.path.join(folder, "cert.pem")],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    folder = tempfile.mkdtemp()
    certificate(folder)
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), TREE]))),
    )  # fmt: skip

    def state():
        program.stdin.write(b"?\n")
        program.stdin.flush()
        return json.loads(program.stdout.readline().decode())

    try:
        ports = json.loads(program.stdout.readline().decode())
        door = os.path.join(folder, "tfmemwatch-%d.sock" % program.pid)
        throwers = [Thrower(chosen.seed * 1000 + number, ports, door) for number in range(8)]
        throwers[0]._valid()
        before = state()
        for many, how in ((chosen.requests, "request"), (chosen.messages, "message")):
            seconds = throw(throwers, many, how)
            print("%d %ss in %.0f s" % (many, how, seconds))
        for thrower in throwers:
            while thrower.slow:
                thrower.slow.pop().close()
        throwers[0]._valid()
        end = time.monotonic() + PATIENCE
        after = state()
        while after["descriptors"] > before["descriptors"] and time.monotonic() < end:  # until it has seen us go
            after = state()
    finally:
        program.stdin.close()
        program.wait(timeout=60)
        shutil.rmtree(folder)
    wrong = [text for thrower in throwers for text in thrower.wrong]
    seen = sum((thrower.seen for thrower in throwers), collections.Counter())
    print("visits: " + ", ".join("%d %s" % (many, kind) for kind, many in sorted(seen.items())))
    print("looks meanwhile: %d" % (after["looks"] - before["looks"]))
    print("failures counted: %r; wrong answers: %d %r" % (after["failures"], len(wrong), wrong[:5]))
    print("descriptors %d -> %d, threads %d -> %d, the program ended with %d" % (
        before["descriptors"], after["descriptors"], before["threads"], after["threads"], program.returncode,
    ))  # fmt: skip
    is_well = not after["failures"] and not wrong and program.returncode == 0
    sys.exit(0 if is_well and after["descriptors"] <= before["descriptors"] else 1)


if __name__ == "__main__":
    main()
