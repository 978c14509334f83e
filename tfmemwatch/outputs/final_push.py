"""The last values of a job that ends: a file for node_exporter's textfile collector, or a Pushgateway."""

from __future__ import annotations

import base64
import os
import urllib.parse
import urllib.request
from typing import Dict, Tuple

from ..config import Address
from ..errors import ConfigError
from .folder import is_writable, replace

_PUSH_SECONDS = 5.0  # for all of it: name, connection, TLS, what is sent, the answer


def checked_file(path: str) -> str:
    """The path, if a file can be written there."""
    folder = os.path.dirname(os.path.abspath(path))
    if not path.endswith(".prom"):
        raise ConfigError("textfile is %r; it must end in .prom, or the collector does not read it" % path)
    if os.path.isdir(path) or not is_writable(folder):
        raise ConfigError("textfile is %r; it must be a file in a folder that can be written to" % path)
    return os.path.abspath(path)


def checked_gateway(url: str) -> Address:
    """The address, if it is one; it shows its credentials to nobody."""
    address = Address(url.rstrip("/"))
    try:
        parts = urllib.parse.urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # the port is no number
        is_one = False
    if not is_one:
        raise ConfigError("pushgateway is %r; it must be an address such as http://host:9091" % address)
    return address


def write(path: str, text: bytes) -> None:
    """Put a file in the place of the last one: whoever reads sees one or the other."""
    replace(path, "%s.%s.new" % (path, os.urandom(8).hex()), text)  # a name that nobody can have put a link at


def push(gateway: Address, grouping: Dict[str, str], text: bytes) -> None:
    """Replace what this group has pushed before; raises where the gateway does not take it in time."""
    from .deadline import opener

    # In base 64, as the gateway takes values that may hold a slash.
    words = ["%s@base64/%s" % (name, base64.urlsafe_b64encode(value.encode()).decode())
             for name, value in grouping.items()]  # fmt: skip
    url, credentials = _taken_apart(gateway)
    headers = {"Content-Type": "text/plain; version=0.0.4"}
    if credentials:
        headers["Authorization"] = "Basic " + base64.b64encode(credentials.encode()).decode()
    request = urllib.request.Request("%s/metrics/%s" % (url, "/".join(words)), text, headers, method="PUT")
    opener(_PUSH_SECONDS).open(request).close()


def _taken_apart(gateway: Address) -> Tuple[str, str]:
    """An address without its credentials, and these."""
    parts = urllib.parse.urlsplit(gateway.whole)
    credentials, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), urllib.parse.unquote(credentials) if at else ""
