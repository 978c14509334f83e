"""A request over HTTP that is over in time, whatever the other side does.

The timeout of `urllib` is for each byte that is waited for. Here one deadline holds for all of it: the name, the
connection, TLS, what is sent and the head of the answer. What follows the head is not read.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import threading
import time
import urllib.request
from typing import Any, Callable, List


class _Deadline:
    """When all must be done."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds; socket.timeout where there are none."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise socket.timeout("it took longer than %g seconds" % self._seconds)
        return left


class _Socket:
    """A socket, as far as http.client needs one."""

    def __init__(self, inner: Any, deadline: _Deadline) -> None:
        self.inner = inner
        self._deadline = deadline

    def sendall(self, data: Any) -> None:
        """Send all of it."""
        view = memoryview(data)
        while view:
            self.inner.settimeout(self._deadline.left())
            view = view[self.inner.send(view[:65536]) :]

    def readinto(self, room: Any) -> int:
        """What comes next."""
        self.inner.settimeout(self._deadline.left())
        count: int = self.inner.recv_into(room)
        return count

    def makefile(self, *how: Any) -> io.BufferedReader:
        """What comes, as a file."""
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        """Hang up."""
        self.inner.close()


class _Incoming(io.RawIOBase):
    def __init__(self, source: _Socket) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        return self._source.readinto(room)


def opener(seconds: float) -> urllib.request.OpenerDirector:
    """Opens requests, through the proxies of the environment; all that it does is over in so many seconds."""
    deadline = _Deadline(seconds)

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock: Any = _Socket(_connected(self.host, self.port, deadline), deadline)
            if getattr(self, "_tunnel_host", None):
                getattr(self, "_tunnel")()  # noqa: B009  # through a proxy: http.client's own

    class OverTLS(http.client.HTTPSConnection):
        def connect(self) -> None:
            Plain.connect(self)  # type: ignore[arg-type]
            context: Any = getattr(self, "_context")  # noqa: B009
            inner = self.sock.inner
            inner.settimeout(deadline.left())  # for the whole of the handshake
            name = getattr(self, "_tunnel_host", None) or self.host
            self.sock: Any = _Socket(context.wrap_socket(inner, server_hostname=name), deadline)

    class Opening(urllib.request.HTTPHandler):
        def http_open(self, req: Any) -> Any:
            return self.do_open(Plain, req)

    class OpeningTLS(urllib.request.HTTPSHandler):
        def https_open(self, req: Any) -> Any:
            return self.do_open(OverTLS, req)

    return urllib.request.build_opener(Opening, OpeningTLS)


def _connected(host: str, port: int, deadline: _Deadline) -> socket.socket:
    """Connected to the first address that answers; each has its share of the time."""
    addresses = _addresses(host, port, deadline)
    refused: OSError = OSError("%s has no address" % host)
    for count, (family, kind, protocol, _, address) in enumerate(addresses):
        one = socket.socket(family, kind, protocol)
        try:
            one.settimeout(deadline.left() / (len(addresses) - count))
            one.connect(address)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return one
        except OSError as error:
            one.close()
            refused = error
        except BaseException:
            one.close()
            raise
    raise refused


def _addresses(host: str, port: int, deadline: _Deadline) -> List[Any]:
    """What a name means. The resolver takes no deadline: a thread of its own waits for it, where one can be begun."""
    name = host.encode() if host.isascii() else host  # a text is encoded by a module that may have to be loaded first
    with_port: Callable[..., List[Any]] = lambda flags=0: socket.getaddrinfo(  # noqa: E731
        name, port, 0, socket.SOCK_STREAM, 0, flags
    )
    try:
        return with_port(socket.AI_NUMERICHOST)
    except OSError:
        found: queue.Queue[Any] = queue.Queue()

    def resolve() -> None:
        try:
            found.put(with_port())
        except Exception as error:
            found.put(error)

    try:
        threading.Thread(target=resolve, name="tfmemwatch-name", daemon=True).start()
    except RuntimeError:  # the interpreter ends, and begins no thread any more
        return with_port()
    try:
        answer = found.get(timeout=deadline.left())
    except queue.Empty:
        raise socket.timeout("the name %r was not resolved in time" % host) from None
    if isinstance(answer, Exception):
        raise answer
    return list(answer)
