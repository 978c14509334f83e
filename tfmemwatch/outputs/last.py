"""The last values of a job that ends: a file for node_exporter's textfile collector, or a Pushgateway."""

from __future__ import annotations

import base64
import contextlib
import os
import urllib.parse
import urllib.request
from typing import Dict

from ..errors import ConfigError
from .folder import is_writable

_PUSH_SECONDS = 5.0


def checked_file(path: str) -> str:
    """The path, if a file can be written there."""
    folder = os.path.dirname(os.path.abspath(path))
    if not path.endswith(".prom"):
        raise ConfigError("textfile is %r; it must end in .prom, or the collector does not read it" % path)
    if os.path.isdir(path) or not is_writable(folder):
        raise ConfigError("textfile is %r; it must be a file in a folder that can be written to" % path)
    return os.path.abspath(path)


def checked_gateway(url: str) -> str:
    """The address, if it is one."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError("pushgateway is %r; it must be an address as http://host:9091" % url)
    return url.rstrip("/")


def write(path: str, text: bytes) -> None:
    """Put a file in the place of the last one: whoever reads sees one or the other."""
    making = "%s.%d.new" % (path, os.getpid())
    try:
        with open(making, "wb") as file:
            file.write(text)
        os.rename(making, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(making)
        raise


def push(gateway: str, grouping: Dict[str, str], text: bytes) -> None:
    """Replace what this group has pushed before; raises where the gateway does not take it in time."""
    # In base 64, as the gateway takes values that may hold a slash.
    words = ["%s@base64/%s" % (name, base64.urlsafe_b64encode(value.encode()).decode())
             for name, value in grouping.items()]  # fmt: skip
    address = "%s/metrics/%s" % (gateway, "/".join(words))
    request = urllib.request.Request(address, text, {"Content-Type": "text/plain; version=0.0.4"}, method="PUT")
    with urllib.request.urlopen(request, timeout=_PUSH_SECONDS):
        pass
