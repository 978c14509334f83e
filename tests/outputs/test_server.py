"""A port of its own: one page for who may see it, and nobody can hold it up."""

import base64
import json
import os
import socket
import ssl
import subprocess
import threading
import time

import pytest
from parts import program

import tfmemwatch
from tfmemwatch.config import load
from tfmemwatch.errors import ConfigError
from tfmemwatch.explain.excerpts import Excerpt
from tfmemwatch.memory.process import Memory
from tfmemwatch.monitor import answers
from tfmemwatch.outputs import server as module
from tfmemwatch.outputs.live_page import LivePage
from tfmemwatch.outputs.server import Server
from tfmemwatch.reports import Report

LONGEST_SECONDS = 10


def page(accept):
    return b"up 1\n", "text/plain; version=0.0.4" + (" openmetrics" if accept else "")


@pytest.fixture
def serve():
    """Make servers that are stopped after the test."""
    running = []

    def started(written=page, **settings):
        server = Server(written, **settings)
        running.append(server)
        server.start()
        return server

    yield started
    for server in running:
        server.stop()


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=LONGEST_SECONDS)


def everything(connection):
    answer = b""
    while True:
        more = connection.recv(65536)
        if not more:
            return answer
        answer += more


def ask(server, request="GET /metrics HTTP/1.1", *headers, host="Host: localhost"):
    """The whole answer, as text."""
    with connect(server) as connection:
        head = "\r\n".join([request, *filter(None, [host]), *headers])
        connection.sendall((head + "\r\n\r\n").encode("utf-8", "surrogateescape"))
        return everything(connection).decode()


def status(answer):
    return int(answer.split(" ", 2)[1])


def test_it_shows_the_metrics(serve):
    """What Prometheus asks for is what it gets."""
    answer = ask(serve())
    head, body = answer.split("\r\n\r\n")
    assert status(answer) == 200
    assert body == "up 1\n"
    assert "Content-Length: 5" in head


def test_head_has_no_body(serve):
    """And says how long it would be."""
    answer = ask(serve(), "HEAD /metrics HTTP/1.1")
    assert status(answer) == 200
    assert answer.endswith("\r\n\r\n")
    assert "Content-Length: 5" in answer


@pytest.mark.parametrize(
    "request_line, expected",
    [
        ("GET / HTTP/1.1", 404),
        ("GET /metrics/ HTTP/1.1", 404),
        ("GET /../../etc/passwd HTTP/1.1", 404),
        ("GET http://localhost/metrics HTTP/1.1", 404),
        ("GET /metrics?name[]=up HTTP/1.1", 200),
        ("POST /metrics HTTP/1.1", 405),
        ("DELETE /metrics HTTP/1.1", 405),
        ("OPTIONS * HTTP/1.1", 405),
        ("TRACE /metrics HTTP/1.1", 405),
        ("GET /metrics", 400),
        ("GET /metrics HTTP/2.0", 400),
        ("\x16\x03\x01 hello", 400),
        ("", 400),
    ],
)
def test_there_is_one_page_and_two_ways_to_ask_for_it(serve, request_line, expected):
    """No directory, no other path, no other method."""
    assert status(ask(serve(), request_line)) == expected


@pytest.mark.parametrize(
    "host, expected",
    [
        ("Host: localhost:9464", 200),
        ("Host: 127.0.0.1", 200),
        ("Host: [::1]:9464", 200),
        ("Host: evil.example", 403),
        ("Host: localhost.evil.example", 403),
        ("Host: 10.0.0.1:9464", 403),
        ("", 403),
        ("Host: localhost\r\nHost: evil.example", 400),
    ],
)
def test_on_loopback_a_page_of_another_name_may_not_ask(serve, host, expected):
    """A web page whose name is made to point here (DNS rebinding) reads nothing."""
    assert status(ask(serve(), host=host)) == expected


@pytest.mark.parametrize(
    "headers, expected",
    [
        (["Authorization: Bearer s3cret"], 200),
        (["Authorization: Bearer wrong"], 401),
        (["Authorization: Bearer s3cret\udcff"], 401),
        (["Authorization: Basic s3cret"], 401),
        ([], 401),
    ],
)
def test_who_has_no_token_sees_nothing(serve, headers, expected):
    """With `token=` a scrape must bear it."""
    assert status(ask(serve(token="s3cret"), "GET /metrics HTTP/1.1", *headers)) == expected


def test_a_request_that_is_too_long_is_refused(serve):
    """8 kB are enough for who asks in earnest."""
    assert status(ask(serve(), "GET /metrics HTTP/1.1", "X: " + "x" * 20_000)) == 431


@pytest.mark.slow
def test_silent_visitors_hold_nobody_up(serve):
    """With 200 connections that never say all that they have to, a scrape is answered at once."""
    server = serve()
    silent = [connect(server) for _ in range(200)]
    for connection in silent[::2]:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: local")
    began = time.monotonic()
    try:
        assert status(ask(server)) == 200
        assert time.monotonic() - began < 1
    finally:
        for connection in silent:
            connection.close()


def test_more_visitors_than_there_is_room_for_push_out_the_oldest_silent_one(serve, monkeypatch):
    """However many there are, the next one is heard, and memory has its bound."""
    monkeypatch.setattr(module, "_MOST_VISITORS", 5)
    server = serve()
    silent = [connect(server) for _ in range(12)]
    try:
        assert status(ask(server)) == 200
        assert len(server._visitors) <= 5
        assert silent[0].recv(1) == b""
    finally:
        for connection in silent:
            connection.close()


def test_who_keeps_it_waiting_is_let_go(serve, monkeypatch):
    """A request has a time to be finished in, however it trickles."""
    monkeypatch.setattr(module, "_REQUEST_SECONDS", 0.05)
    with connect(serve()) as connection:
        connection.sendall(b"GET /metrics HTT")
        assert connection.recv(1) == b""


def test_a_page_that_fails_is_an_error_and_the_next_one_comes(serve, failures):
    """What is wrong with a scrape ends with it."""
    pages = [ZeroDivisionError(), (b"up 1\n", "text/plain")]

    def flaky(accept):
        answer = pages.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    server = serve(flaky)
    assert [status(ask(server)), status(ask(server))] == [500, 200]
    assert failures == {"metrics page": 1}


def test_a_flood_makes_few_pages(serve):
    """Who asks a hundred times a second gets one page many times."""
    made = []

    def counted(accept):
        made.append(accept)
        return page(accept)

    server = serve(counted)
    assert {status(ask(server)) for _ in range(60)} == {200}
    assert len(made) < 30


@pytest.mark.slow
def test_it_answers_again_after_a_second_is_full(serve, monkeypatch):
    """Who comes too often waits; nobody is turned away."""
    monkeypatch.setattr(module, "_MOST_A_SECOND", 2)
    server = serve()
    assert [status(ask(server)) for _ in range(3)] == [200, 200, 200]


# -- the page


def live_page(report=None):
    """A page of nothing much."""
    shown = report or Report(title="", seconds=1.0, findings=(), memory=Memory(1, None, None, 1))
    return LivePage(lambda: shown, lambda: 1)


@pytest.mark.parametrize(
    "request_line, expected, kind",
    [
        ("GET / HTTP/1.1", 200, "text/html"), ("GET /report.txt HTTP/1.1", 200, "text/plain"),
        ("GET /report.json?since=3 HTTP/1.1", 200, "application/json"), ("HEAD / HTTP/1.1", 200, "text/html"),
        ("GET /metrics HTTP/1.1", 200, "text/plain; version=0.0.4"), ("POST / HTTP/1.1", 405, "text/plain"),
        ("GET /report HTTP/1.1", 404, "text/plain"), ("GET //report.txt HTTP/1.1", 404, "text/plain"),
    ],
)  # fmt: skip
def test_beside_the_metrics_is_the_page(serve, request_line, expected, kind):
    """At `/`, with the report as text and as JSON; the metrics are as they were."""
    answer = ask(serve(live=live_page()), request_line)
    assert status(answer) == expected and "Content-Type: " + kind in answer
    if request_line.startswith("HEAD"):
        assert answer.endswith("\r\n\r\n")


def test_the_page_has_its_policy_and_is_asked_again_by_its_mark(serve):
    """What a browser may load; and who has the last report gets an answer of a few bytes."""
    server = serve(live=live_page())
    assert "Content-Security-Policy: default-src 'none'; script-src 'sha256-" in ask(server, "GET / HTTP/1.1")
    mark = ask(server, "GET /report.json HTTP/1.1").split("ETag: ")[1].split("\r\n")[0]
    again = ask(server, "GET /report.json HTTP/1.1", "If-None-Match: " + mark)
    assert status(again) == 304 and again.endswith("\r\n\r\n") and "Content-Length" not in again


def test_a_poll_costs_its_thread_half_a_millisecond(serve):
    """Its connection and an answer that nothing is new: what of one millisecond a new report may not take."""
    server = serve(live=live_page())
    mark = ask(server, "GET /report.json HTTP/1.1").split("ETag: ")[1].split("\r\n")[0]
    clock = time.pthread_getcpuclockid(server._thread.ident)
    before, taken = time.clock_gettime(clock), []
    for _ in range(40):
        assert status(ask(server, "GET /report.json?since=1 HTTP/1.1", "If-None-Match: " + mark)) == 304
        now = time.clock_gettime(clock)
        taken.append(now - before)
        before = now
    assert sorted(taken)[len(taken) // 4] < 0.0005  # others on the machine disturb some


@pytest.mark.parametrize(
    "headers, expected",
    [
        (["Authorization: Bearer s3cret"], 200),
        (["Authorization: Basic " + base64.b64encode(b"anybody:s3cret").decode()], 200),
        (["Authorization: Basic " + base64.b64encode(b"s3cret:wrong").decode()], 401),
        (["Authorization: Basic s3cret"], 401),
        (["Authorization: Basic \udcff"], 401),
        ([], 401),
    ],
)
def test_a_browser_may_send_the_token_as_a_password(serve, headers, expected):
    """So that a person who opens the page is asked for it; the metrics take it as a bearer's alone."""
    server = serve(live=live_page(), token="s3cret")
    answer = ask(server, "GET / HTTP/1.1", *headers)
    assert status(answer) == expected
    assert expected == 200 or "WWW-Authenticate: Basic" in answer
    assert status(ask(server, "GET /metrics HTTP/1.1", *headers)) == (200 if "Bearer" in "".join(headers) else 401)


def test_a_page_of_another_name_may_not_see_it(serve):
    """DNS rebinding reads neither metrics nor report."""
    assert status(ask(serve(live=live_page()), "GET /report.json HTTP/1.1", host="Host: evil.example")) == 403


def test_a_report_that_fails_is_an_error_and_the_metrics_go_on(serve, failures):
    """What is wrong with the page ends with it."""
    server = serve(live=LivePage(lambda: 1 / 0, lambda: 1))
    assert [status(ask(server, "GET / HTTP/1.1")), status(ask(server))] == [500, 200]
    assert failures == {"live page": 1}


# -- TLS


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate for localhost and its key, in one file each."""
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return str(cert), str(key)


def ask_over_tls(server, certificate):
    context = ssl.create_default_context(cafile=certificate)
    with connect(server) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return everything(connection).decode()


def test_it_speaks_tls(serve, certificate):
    """With a certificate, and for who trusts it; the end is a clean one."""
    big = b"x 1\n" * 200_000
    server = serve(lambda accept: (big, "text/plain"), certificate=certificate[0], private_key=certificate[1])
    answer = ask_over_tls(server, certificate[0])
    assert status(answer) == 200
    assert len(answer.split("\r\n\r\n", 1)[1]) == len(big)


def test_silent_visitors_hold_nobody_up_over_tls(serve, certificate):
    """A handshake that is never finished is nobody else's matter."""
    server = serve(certificate=certificate[0], private_key=certificate[1])
    silent = [connect(server) for _ in range(200)]
    for connection in silent[::2]:
        connection.sendall(b"\x16\x03\x01")
    try:
        assert status(ask_over_tls(server, certificate[0])) == 200
    finally:
        for connection in silent:
            connection.close()


# -- what can't be


@pytest.fixture
def threads():
    return {thread.name for thread in threading.enumerate()}


def nothing_is_installed(threads):
    return tfmemwatch.current() is None and {thread.name for thread in threading.enumerate()} == threads


def test_a_port_in_use_is_an_error_and_nothing_is_installed(threads):
    """The message names the port, the address and the reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match="port is %d at address '127.0.0.1'.*in use" % port):
            tfmemwatch.install(port=port)
    assert nothing_is_installed(threads)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"port": 0, "address": "203.0.113.7"}, "address '203.0.113.7'"),
        ({"port": 0, "address": "no.such.host.invalid"}, "no.such.host.invalid"),
        ({"port": 0, "certificate": "/nowhere/cert.pem"}, "certificate is '/nowhere/cert.pem'"),
        ({"port": 0, "certificate": __file__}, "PEM files"),
        ({"port": 0, "private_key": "key.pem"}, "no certificate"),
        ({"port": 65536}, "port is 65536"),
        ({"port": -1}, "port is -1"),
        ({"port": True}, "port is True"),
        ({"port": 0, "token": "two words"}, "without spaces"),
    ],
)
def test_what_cannot_be_served_is_an_error_and_nothing_is_installed(settings, message, threads):
    """`install()` says what is wrong, with its value, before anything is there."""
    with pytest.raises(ConfigError, match=message):
        tfmemwatch.install(**settings)
    assert nothing_is_installed(threads)


def test_a_token_shows_in_no_message(caplog):
    """Neither when it is wrong, nor when a second install() differs, nor where settings are printed."""
    token = load({"token": "s3cret"}).token
    assert "s3cret" not in "%s %r" % (token, token) + f"{token} {token:>9}"
    with pytest.raises(ConfigError) as raised:
        tfmemwatch.install(port=0, token="my s3cret")
    tfmemwatch.install(sample_seconds=3600)
    tfmemwatch.install(sample_seconds=3600, token="s3cret")
    assert "token" in caplog.text
    assert "s3cret" not in caplog.text + str(raised.value)


# -- through install()


def test_install_serves_on_a_free_port_of_the_loopback_until_uninstall():
    """`install(port=0)` and `tfmemwatch.port()`: no one else on the network can ask."""
    watch = tfmemwatch.install(port=0, sample_seconds=3600)
    port = tfmemwatch.port()
    server = tfmemwatch.api._installations[0].export._port._server
    assert server._listener.getsockname() == ("127.0.0.1", port)
    assert "tfmemwatch_looks_total" in ask(server)
    assert watch.is_running
    tfmemwatch.uninstall()
    assert tfmemwatch.port() is None
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_lets_go_of_the_port():
    """The port is the parent's: it answers on, and is free when the parent gives it back, whatever the child does."""
    tfmemwatch.install(port=0, sample_seconds=3600)
    port = tfmemwatch.port()
    done, finish = os.pipe()
    is_there, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(finish)
        os.write(tell, b".")
        os.read(done, 1)  # until the parent is done
        os._exit(0 if tfmemwatch.port() is None else 1)
    os.close(done)
    try:
        os.read(is_there, 1)
        assert status(ask(tfmemwatch.api._installations[0].export._port._server)) == 200
        tfmemwatch.uninstall()
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))
    finally:
        for end in (finish, is_there, tell):
            os.close(end)
        _, ended = os.waitpid(child, 0)
    assert ended == 0


@pytest.mark.parametrize(
    "settings, is_shown",
    [({}, True), ({"address": "0.0.0.0"}, False), ({"address": "0.0.0.0", "token": "s3cret"}, True)],
)
def test_source_is_shown_to_who_is_here_or_has_the_token(settings, is_shown, monkeypatch):
    """Who serves the metrics to a whole network has not asked to serve its code to it."""
    tfmemwatch.install(port=0, sample_seconds=3600, **settings)
    excerpt = Excerpt("/srv/a.py", 1, 1, ("password = 'x'",))
    monkeypatch.setattr(answers, "excerpts", lambda sites, began: (excerpt,))
    server = tfmemwatch.api._installations[0].export._port._server
    head = "Authorization: Bearer s3cret"
    body = ask(server, "GET /report.json HTTP/1.1", head, host="Host: localhost").split("\r\n\r\n")[1]
    assert [one["file"] for one in json.loads(body)["sources"]] == (["/srv/a.py"] if is_shown else [])
