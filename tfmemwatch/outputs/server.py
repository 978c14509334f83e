"""The metrics and the page on a port of their own: one thread, and nobody who is slow or silent is in the way."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, NoReturn, Optional, Set, Tuple

from ..errors import ConfigError
from ..safety import descriptors, exit_gate, guard, threads
from .http_message import Request, is_loopback, message, read, sent
from .live_page import PATHS, LivePage

Page = Callable[[str], Tuple[bytes, str]]  # of the Accept header: the text, and its type

_REQUEST_BYTES = 8192
_REQUEST_SECONDS = 5.0  # for a whole request, the TLS handshake included
_ANSWER_SECONDS = 15.0
_LINGER_SECONDS = 1.0  # for the other side to hang up, once it has its answer
_MOST_VISITORS = 256  # at a time; one more, and the one that has kept us waiting longest goes
_MOST_A_SECOND = 500  # who comes beyond that waits in the system's queue until the next second
_PAGE_SECONDS = 0.2  # a page that is younger than this is served again

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_WAITS = (BlockingIOError, InterruptedError, ssl.SSLWantReadError)


class _Visitor:
    """One connection, and how far it has come."""

    __slots__ = ("answer", "deadline", "is_greeted", "lingers", "request", "socket", "was")

    def __init__(self, connection: socket.socket, is_greeted: bool) -> None:
        self.socket = connection
        self.was = descriptors.what_is(connection.fileno())
        self.is_greeted = is_greeted  # over TLS, when hands have been shaken
        self.request = bytearray()
        self.answer: Optional[memoryview] = None
        self.lingers = False
        self.deadline = time.monotonic() + _REQUEST_SECONDS


class Server:
    """Serves `/metrics`, and the page at `/`; what can't be is said by the constructor, before anything runs."""

    def __init__(
        self, page: Page, address: str = "127.0.0.1", port: int = 0, token: str = "", certificate: str = "",
        private_key: str = "", live: Optional[LivePage] = None,
    ) -> None:  # fmt: skip
        self._page = page
        self._pages: Dict[str, Tuple[float, bytes, str]] = {}
        self._live = live
        self._token = token.encode()
        self._tls = _tls(certificate, private_key)
        self._visitors: Set[_Visitor] = set()
        self._window = (0.0, 0)  # when this second began, and who has come in it
        self._is_listening = False
        self._is_stopping = False
        # Not epoll: its interest is shared with a forked child, and what the one forgets the other loses.
        self._selector = getattr(selectors, "PollSelector", selectors.SelectSelector)()
        self._thread: Optional[threading.Thread] = None
        self._listener = _listener(address, port)
        try:
            self.port: int = self._listener.getsockname()[1]
            self.is_local = is_loopback(self._listener.getsockname()[0])
            self._bell, self._bell_rope = socket.socketpair()
        except BaseException:
            self._listener.close()
            raise
        self._bell.setblocking(False)
        self._bell_rope.setblocking(False)
        self._own = [(one, descriptors.what_is(one.fileno())) for one in (self._listener, self._bell, self._bell_rope)]

    def start(self) -> None:
        """Begin to answer, unless it has been stopped."""
        if self._is_stopping:
            return
        self._selector.register(self._bell, _READ)
        thread = self._thread = threading.Thread(target=self._run, name="tfmemwatch-metrics", daemon=True)
        thread.start()

    def stop(self) -> None:
        """Stop answering, and give the port back."""
        self._is_stopping = True
        with contextlib.suppress(OSError):  # the bell is full, or closed: by whoever daemonizes, or a second stop()
            if descriptors.what_is(self._bell_rope.fileno()) == self._own[2][1]:
                self._bell_rope.send(b".")
        thread = self._thread
        if thread is not None and thread.is_alive() and thread is not threading.current_thread():
            thread.join(timeout=5)
        self.abandon()

    def abandon(self) -> None:
        """Close all, without a word: also what a forked child does with its copy."""
        for one, was in [*self._own, *((visitor.socket, visitor.was) for visitor in list(self._visitors))]:
            descriptors.close(one, was)
        self._visitors.clear()
        self._selector.close()

    # -- the one thread

    def _run(self) -> None:
        thread = self._thread
        while not self._is_stopping:
            try:
                self._turn()
            except Exception:
                guard.failed("metrics server")
                time.sleep(0.1)
        if thread is not None:
            threads.about_to_end(thread)

    def _turn(self) -> None:
        now = time.monotonic()
        wait = self._listen(now)
        if self._visitors:
            first = min(visitor.deadline for visitor in self._visitors)
            wait = max(0.0, first - now) if wait is None else max(0.0, min(wait, first - now))
        for key, _ in self._selector.select(wait):
            if self._is_stopping:
                return
            if not self._is_ours(key):
                self._is_stopping = True
                guard.logger.warning("the program has closed the metrics port's descriptors: no metrics are served")
                return
            if key.fileobj is self._listener:
                self._welcome()
            elif key.data is not None and key.data in self._visitors:
                self._attend(key.data)
        now = time.monotonic()
        for visitor in [visitor for visitor in self._visitors if visitor.deadline <= now]:
            self._leave(visitor)

    def _is_ours(self, key: selectors.SelectorKey) -> bool:
        """Whether a number still means our socket: the program's, which has it now, is none of our business."""
        if key.data is not None:
            return key.data not in self._visitors or descriptors.what_is(key.fd) == key.data.was
        return key.fileobj is self._listener and descriptors.what_is(key.fd) == self._own[0][1]  # nobody rings the bell

    def _listen(self, now: float) -> Optional[float]:
        """Listen, unless this second is full; what comes back is for how long it still is."""
        began, came = self._window
        if now - began >= 1:
            self._window = (now, 0)
            came = 0
        wanted = came < _MOST_A_SECOND
        if wanted and not self._is_listening:
            self._selector.register(self._listener, _READ)
        elif not wanted and self._is_listening:
            self._selector.unregister(self._listener)
        self._is_listening = wanted
        return None if wanted else max(0.0, began + 1 - now)

    def _welcome(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except _WAITS:
            return
        except OSError:  # no file descriptor is left, or the visitor is gone
            self._window = (time.monotonic(), _MOST_A_SECOND)
            return
        self._window = (self._window[0], self._window[1] + 1)
        connection.setblocking(False)
        if self._tls is not None:
            try:
                connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            except OSError:  # gone already
                connection.close()
                return
        visitor = _Visitor(connection, self._tls is None)
        if len(self._visitors) >= _MOST_VISITORS:
            self._leave(min(self._visitors, key=lambda one: (one.answer is not None and not one.lingers, one.deadline)))
        self._visitors.add(visitor)
        self._selector.register(connection, _READ, visitor)

    def _leave(self, visitor: _Visitor) -> None:
        self._visitors.discard(visitor)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(visitor.socket)
        descriptors.close(visitor.socket, visitor.was)

    def _attend(self, visitor: _Visitor) -> None:
        try:
            self._go_on(visitor)
        except ssl.SSLWantWriteError:
            self._selector.modify(visitor.socket, _WRITE, visitor)
        except _WAITS:
            writing = visitor.answer is not None and not visitor.lingers
            self._selector.modify(visitor.socket, _WRITE if writing else _READ, visitor)
        except OSError:  # it has hung up, or speaks no TLS
            self._leave(visitor)

    def _go_on(self, visitor: _Visitor) -> None:
        """As far as it goes now; an exception says what it waits for."""
        connection: Any = visitor.socket
        if not visitor.is_greeted:
            connection.do_handshake()
            visitor.is_greeted = True
        while visitor.answer is None:
            more = connection.recv(_REQUEST_BYTES)
            if not more:
                self._leave(visitor)
                return
            visitor.request += more
            if b"\r\n\r\n" in visitor.request or b"\n\n" in visitor.request:
                visitor.answer = memoryview(self._answer(bytes(visitor.request[:_REQUEST_BYTES])))
            elif len(visitor.request) > _REQUEST_BYTES:
                visitor.answer = memoryview(message(431))
            if visitor.answer is not None:
                visitor.deadline = time.monotonic() + _ANSWER_SECONDS
        while visitor.answer:
            visitor.answer = visitor.answer[connection.send(visitor.answer[:65536]) :]
        if not visitor.lingers:
            visitor.lingers = True
            visitor.deadline = time.monotonic() + _LINGER_SECONDS
            if self._tls is None:
                connection.shutdown(socket.SHUT_WR)
        if self._tls is not None:
            connection.unwrap()
        else:
            while connection.recv(65536):
                pass
        self._leave(visitor)

    # -- what is answered

    def _answer(self, said: bytes) -> bytes:
        request = read(said)
        if request is None:
            return message(400)
        if self.is_local and not request.names_loopback:
            return message(403, "the Host header does not name this machine's loopback address")
        is_page = self._live is not None and request.path in PATHS
        if self._token and not request.bears(b"Bearer " + self._token):
            if not is_page:
                return message(401, more="WWW-Authenticate: Bearer\r\n")
            if not request.has_password(self._token):  # a browser asks for it: the token is the password
                return message(401, more='WWW-Authenticate: Basic realm="tfmemwatch"\r\n')
        if request.method not in ("GET", "HEAD"):
            return message(405, more="Allow: GET, HEAD\r\n")
        if request.path != "/metrics" and not is_page:
            return message(404, "there is only /metrics" + (", / , /report.txt and /report.json" if self._live else ""))
        try:
            with exit_gate.at_work() as is_allowed:
                if not is_allowed:
                    return message(503, "the program ends")
                return self._looked(request) if is_page else self._scraped(request)
        except Exception:
            guard.failed("live page" if is_page else "metrics page")
            return message(500)

    def _looked(self, request: Request) -> bytes:
        live: Any = self._live
        answer = live.answer(request.method, request.path, request.query, request.headers.get("if-none-match", ""))
        return sent(answer, with_body=request.method == "GET")

    def _scraped(self, request: Request) -> bytes:
        body, content_type = self._written(request.headers.get("accept", ""))
        return message(200, body, content_type, with_body=request.method == "GET")

    def _written(self, accept: str) -> Tuple[bytes, str]:
        """The page in the format asked for; however often one asks, it is not made more than five times a second."""
        wanted = "openmetrics" if "application/openmetrics-text" in accept else ""
        now = time.monotonic()
        made_at, body, content_type = self._pages.get(wanted, (0.0, b"", ""))
        if not body or now - made_at > _PAGE_SECONDS:
            body, content_type = self._page("application/openmetrics-text; version=1.0.0" if wanted else "")
            self._pages[wanted] = (now, body, content_type)
        return body, content_type


def _tls(certificate: str, private_key: str) -> Optional[ssl.SSLContext]:
    if not certificate:
        if private_key:
            raise ConfigError("private_key is %r, but there is no certificate; both must be given" % private_key)
        return None

    def no_password() -> NoReturn:
        raise ValueError("the private key has a password")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, private_key or None, no_password)
    except (OSError, ValueError) as error:
        raise ConfigError(
            "certificate is %r (private_key %r); they must be PEM files that belong together: %s"
            % (certificate, private_key, error)
        ) from None
    return context


def _listener(address: str, port: int) -> socket.socket:
    listener = None
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            # As bytes: a text is encoded by a module that who has given up root's rights may not be able to load.
            address.encode() if address.isascii() else address,
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(128)
        listener.setblocking(False)
    except (OSError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        raise ConfigError(
            "port is %d at address %r, which can't be served: %s; it must be a free port (0 takes any) of an "
            "address of this machine" % (port, address, getattr(error, "strerror", None) or error)
        ) from None
    return listener
