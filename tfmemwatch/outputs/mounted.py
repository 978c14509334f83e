"""The page in the program's own server, behind its own login: as an ASGI and as a WSGI application."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, Iterable, List, Tuple

from ..safety import guard
from .live_page import REASONS, Answer, LivePage, failed, moved

_Receive = Callable[[], Awaitable[Dict[str, Any]]]
_Send = Callable[[Dict[str, Any]], Awaitable[None]]


def asgi(page: LivePage) -> Callable[[Dict[str, Any], _Receive, _Send], Awaitable[None]]:
    """For FastAPI, Starlette and others: `app.mount("/memory", …)`."""

    async def application(scope: Dict[str, Any], receive: _Receive, send: _Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})
        elif scope["type"] == "http":
            root = scope.get("root_path", "")
            path = _below(root.rstrip("/"), scope.get("path", ""))
            known = _header(scope.get("headers", ()), b"if-none-match")
            query = bytes(scope.get("query_string", b"")).decode("latin-1")
            answer = _answered(page, scope["method"], root, path, query, known)
            headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in _headers(answer)]
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            body = b"" if scope["method"] == "HEAD" else answer.body
            await send({"type": "http.response.body", "body": body})

    return application


def wsgi(page: LivePage) -> Callable[[Dict[str, Any], Callable[..., Any]], Iterable[bytes]]:
    """For Flask, Django and others: `DispatcherMiddleware(app, {"/memory": …})`."""

    def application(environ: Dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        method = environ.get("REQUEST_METHOD", "GET")
        root, path = environ.get("SCRIPT_NAME", ""), environ.get("PATH_INFO", "")
        known = environ.get("HTTP_IF_NONE_MATCH", "")
        answer = _answered(page, method, root, path, environ.get("QUERY_STRING", ""), known)
        start_response("%d %s" % (answer.status, REASONS[answer.status]), _headers(answer))
        return [] if method == "HEAD" else [answer.body]

    return application


def _below(root: str, path: str) -> str:
    """The path below the place where the page is; servers leave that in it, or a part of it, or nothing."""
    while root:
        if path == root or path.startswith(root + "/"):
            return path[len(root) :]
        slash = root.find("/", 1)
        root = root[slash:] if slash > 0 else ""
    return path


def _answered(page: LivePage, method: str, root: str, path: str, query: str, known: str) -> Answer:
    """By the page; without its last slash it moves by a relative link, which holds behind any proxy."""
    if not path:
        return moved("./%s/" % root.rstrip("/").rpartition("/")[2])
    try:
        return page.answer(method, path, query, known)
    except Exception:  # the program's own server is not to hear of it
        guard.failed("live page")
        return failed()


def _headers(answer: Answer) -> List[Tuple[str, str]]:
    length = [] if answer.status == 304 else [("Content-Length", str(len(answer.body)))]
    return [*answer.headers, *length]


def _header(headers: Iterable[Tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), "")


async def _live(receive: _Receive, send: _Send) -> None:
    """Where it is the whole application: it has nothing to start and nothing to end."""
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
