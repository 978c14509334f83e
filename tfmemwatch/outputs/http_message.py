"""One request over HTTP, read, and its answer, written."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from typing import Any, Dict, NamedTuple, Optional

from .live_page import Answer

_REASONS = {
    200: "OK", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
}  # fmt: skip


class Request(NamedTuple):
    """What somebody asks for."""

    method: str
    path: str
    query: str
    version: str
    headers: Dict[str, str]  # by their names in lower case

    def bears(self, expected: bytes) -> bool:
        """Whether it has this `Authorization`; compared in constant time."""
        return hmac.compare_digest(self.headers.get("authorization", "").encode("latin-1"), expected)

    def has_password(self, token: bytes) -> bool:
        """Whether it has the token as a password, as a browser sends what somebody has typed; of any user."""
        scheme, _, said = self.headers.get("authorization", "").partition(" ")
        try:
            password = base64.b64decode(said.encode("latin-1"), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
        return scheme.lower() == "basic" and hmac.compare_digest(password, token)

    @property
    def names_loopback(self) -> bool:
        """Whether its Host header names this machine to itself: a page from elsewhere, made to point here, does not."""
        host = self.headers.get("host")
        if host is None:
            return self.version == "HTTP/1.0"
        name = host[1:].split("]", 1)[0] if host.startswith("[") else host.rsplit(":", 1)[0]
        return name.lower() in ("localhost", "localhost.") or is_loopback(name)


def read(said: bytes) -> Optional[Request]:
    """The request; None where it is none."""
    head = said.replace(b"\r\n", b"\n").split(b"\n\n", 1)[0].decode("latin-1").split("\n")
    words = head[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    headers: Dict[str, str] = {}
    for line in head[1:]:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip() or (name.lower() == "host" and "host" in headers):
            return None
        headers[name.lower()] = value.strip()
    path, _, query = words[1].partition("?")
    return Request(words[0], path, query, words[2], headers)


def message(
    status: int, body: Any = "", content_type: str = "text/plain; charset=utf-8", *, more: str = "",
    with_body: bool = True,
) -> bytes:  # fmt: skip
    """The whole answer, of a text or of bytes."""
    text: bytes = body if isinstance(body, bytes) else ((body or _REASONS[status].lower()) + "\n").encode()
    head = "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n" % (
        status, _REASONS[status], content_type, len(text),
    )  # fmt: skip
    head += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n%s\r\n" % more
    return head.encode("latin-1") + (text if with_body else b"")


def sent(answer: Answer, *, with_body: bool) -> bytes:
    """The whole answer of a page."""
    length = "" if answer.status == 304 else "Content-Length: %d\r\n" % len(answer.body)
    head = "".join("%s: %s\r\n" % header for header in answer.headers)
    first = "HTTP/1.1 %d %s\r\n" % (answer.status, _REASONS[answer.status])
    return (first + head + length + "Connection: close\r\n\r\n").encode("latin-1") + (answer.body if with_body else b"")


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(address.split("%", 1)[0]).is_loopback
    except ValueError:
        return False
