"""Whatever a gateway answers, and whatever stands in the way of a file: uninstall() and the exit go to their end."""

import base64
import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time

import own_process
import pytest
from parts import program

import tfmemwatch
from tfmemwatch.config import load
from tfmemwatch.errors import ConfigError
from tfmemwatch.outputs import final_push

SECONDS = 0.5  # that a push may take here


def drip(connection, stop, head=b"HTTP/1.1 200 OK\r\n", part=b"X: y\r\n"):
    connection.sendall(head)
    while not stop.wait(0.05):
        connection.sendall(part)


ANSWERS = {
    "garbage": lambda connection, stop: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "nothing": lambda connection, stop: None,
    "half a line": lambda connection, stop: connection.sendall(b"HTTP/1.1 20"),
    "no status": lambda connection, stop: connection.sendall(b"HTTP/1.1 abc OK\r\n\r\n"),
    "away": lambda connection, stop: connection.sendall(
        b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n"
    ),
    "refused": lambda connection, stop: connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
    "headers without end": drip,
    "a line without end": lambda connection, stop: drip(connection, stop, b"HTTP/1.1 200 O", b"K"),
    "go on": lambda connection, stop: drip(connection, stop, b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "silence": lambda connection, stop: stop.wait(),
}


def request_of(connection):
    """All of a request; or what comes first, where it is none."""
    told = connection.recv(65536)
    length = re.search(rb"\r\nContent-Length: (\d+)\r\n", told)
    while length is not None and len(told.partition(b"\r\n\r\n")[2]) < int(length.group(1)):
        more = connection.recv(65536)
        if not more:
            break
        told += more
    return told


@pytest.fixture
def gateway():
    """Start gateways that answer in their own way; what they were told is in `heard`."""
    stop, listeners, heard = threading.Event(), [], []

    def serve(listener, answer):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    heard.append(request_of(connection))
                    answer(connection, stop)

    def started(answer):
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        listeners.append(listener)
        threading.Thread(target=serve, args=(listener, answer), daemon=True).start()
        return "127.0.0.1:%d" % listener.getsockname()[1]

    started.heard = heard
    yield started
    stop.set()
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("how", ANSWERS)
def test_uninstall_goes_to_its_end_whatever_the_gateway_answers(gateway, monkeypatch, caplog, how, scheme):
    """In time, without an exception, and all is undone; that the values were not sent is said."""
    monkeypatch.setattr(final_push, "_PUSH_SECONDS", SECONDS)
    place = "%s://%s" % (scheme, gateway(ANSWERS[how]))
    threads = {thread.name for thread in threading.enumerate()}
    watch = tfmemwatch.install(sample_seconds=3600, pushgateway=place, port=0)
    began = time.monotonic()
    tfmemwatch.uninstall()
    assert time.monotonic() - began < SECONDS + 2
    assert not watch.is_running and tfmemwatch.port() is None
    assert {thread.name for thread in threading.enumerate()} <= threads  # gateways of other tests may end
    assert "could not be sent to %s" % place in caplog.text


EXIT = """
import sys, tfmemwatch
from tfmemwatch.outputs import final_push
final_push._PUSH_SECONDS = 0.5
tfmemwatch.install(pushgateway=sys.argv[1])
"""


@pytest.mark.parametrize("how", ["garbage", "headers without end"])
def test_a_gateway_keeps_no_program_from_ending(gateway, how):
    """It ends in time, and shows no traceback."""
    done = own_process.run(EXIT, "http://" + gateway(ANSWERS[how]), seconds=20)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_name_that_is_not_resolved_in_time_is_given_up(monkeypatch, caplog):
    """The resolver has no deadline of its own; the push has."""
    monkeypatch.setattr(final_push, "_PUSH_SECONDS", SECONDS)
    end, ask = threading.Event(), socket.getaddrinfo

    def slow(host, *rest, **more):
        if host == b"gateway.invalid" and socket.AI_NUMERICHOST not in rest:
            end.wait(30)
        return ask(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    tfmemwatch.install(sample_seconds=3600, pushgateway="http://gateway.invalid")
    began = time.monotonic()
    tfmemwatch.uninstall()
    end.set()
    assert time.monotonic() - began < SECONDS + 2
    assert "not resolved in time" in caplog.text


def test_through_a_proxy_the_same_deadline_holds(gateway, monkeypatch, caplog):
    """The proxy of the environment is used as before, and may not hold anybody up either."""
    monkeypatch.setattr(final_push, "_PUSH_SECONDS", SECONDS)
    monkeypatch.setenv("https_proxy", "http://" + gateway(ANSWERS["headers without end"]))
    monkeypatch.delenv("no_proxy", raising=False)
    tfmemwatch.install(sample_seconds=3600, pushgateway="https://gateway.invalid:9091")
    began = time.monotonic()
    tfmemwatch.uninstall()
    assert time.monotonic() - began < SECONDS + 2
    assert gateway.heard[0].startswith(b"CONNECT gateway.invalid:9091 ")
    assert "could not be sent" in caplog.text


def test_over_tls_the_values_arrive_and_a_stranger_gets_none(tmp_path, monkeypatch, caplog):
    """The gateway's certificate is checked as before."""
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(
        [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    context, heard = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    context.load_cert_chain(cert, key)

    def serve(listener):
        for _ in range(2):
            with contextlib.suppress(OSError), context.wrap_socket(listener.accept()[0], server_side=True) as one:
                heard.append(request_of(one))
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        place = "https://localhost:%d" % listener.getsockname()[1]
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        tfmemwatch.install(sample_seconds=3600, pushgateway=place)
        tfmemwatch.uninstall()
        assert "certificate verify failed" in caplog.text and heard == []
        caplog.clear()
        monkeypatch.setenv("SSL_CERT_FILE", cert)
        tfmemwatch.install(sample_seconds=3600, pushgateway=place)
        tfmemwatch.uninstall()
        thread.join()
    assert caplog.text == ""
    assert heard[0].startswith(b"PUT /metrics/job@base64/")


# -- credentials


def test_credentials_in_the_address_are_sent_as_a_header(gateway, caplog):
    """As gateways behind a proxy ask for them; percent signs are read."""
    place = gateway(lambda connection, stop: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    tfmemwatch.install(sample_seconds=3600, pushgateway="http://user:s3cr%%40t@%s/under" % place)
    tfmemwatch.uninstall()
    (told,) = gateway.heard
    assert told.startswith(b"PUT /under/metrics/job@base64/")
    assert b"\r\nAuthorization: Basic " + base64.b64encode(b"user:s3cr@t") + b"\r\n" in told
    assert b"s3cr%40t" not in told
    assert caplog.text == ""


def test_credentials_of_an_address_are_shown_nowhere(monkeypatch, caplog, gateway):
    """Neither where the gateway refuses, nor for a second install(), nor in an error, nor in repr()."""
    monkeypatch.setattr(final_push, "_PUSH_SECONDS", SECONDS)
    place = "http://user:s3cret@" + gateway(ANSWERS["refused"])
    config = load({"pushgateway": place})
    tfmemwatch.install(sample_seconds=3600, pushgateway=place)
    tfmemwatch.install(sample_seconds=3600, pushgateway=place + "/other")
    tfmemwatch.uninstall()
    shown = [caplog.text, repr(config), str(config.pushgateway), "%s" % config.pushgateway, f"{config.pushgateway:>9}"]
    for wrong in ("ftp://user:s3cret@host", "user:s3cret@host", "http://user:s3cret@host:x", "http://user:s3cret@"):
        with pytest.raises(ConfigError) as raised:
            tfmemwatch.install(pushgateway=wrong)
        shown.append(str(raised.value))
    assert "could not be sent to http://…@127.0.0.1" in caplog.text and "pushgateway=" in caplog.text
    assert [text for text in shown if "s3cret" in text] == []


def test_doctor_shows_no_credentials():
    """What is pasted into an issue has no password in it."""
    environ = dict(os.environ, PYTHONPATH=own_process.TREE, TFMEMWATCH_PUSHGATEWAY="http://user:s3cret@gateway:9091")
    source = (
        "import sys; sys.modules['tensorflow'] = __import__('types').ModuleType('tensorflow');"
        "from tfmemwatch.cli import doctor; doctor._print_settings(doctor.load({})._asdict())"
    )
    shown = subprocess.run([sys.executable, "-c", source], env=environ, stdout=subprocess.PIPE, check=True).stdout
    assert "http://…@gateway:9091" in shown.decode()
    assert "s3cret" not in shown.decode()


# -- the textfile


def test_a_link_in_the_place_of_the_file_that_is_made_is_not_followed(tmp_path):
    """Who may write to the folder can't have the program overwrite another file."""
    precious, file = tmp_path / "precious", tmp_path / "job.prom"
    precious.write_text("precious")
    tfmemwatch.install(sample_seconds=3600, textfile=str(file))
    for name in ("job.prom.%d.new" % os.getpid(), "job.prom.new"):
        (tmp_path / name).symlink_to(precious)
    file.symlink_to(precious)
    before = os.umask(0o027)
    try:
        tfmemwatch.uninstall()
    finally:
        os.umask(before)
    assert precious.read_text() == "precious"
    assert not file.is_symlink() and "tfmemwatch_build_info" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_textfile_that_can_not_be_written_is_said_and_leaves_nothing(tmp_path, monkeypatch, caplog):
    """Nor does what was made half-way stay behind."""
    file = tmp_path / "job.prom"
    tfmemwatch.install(sample_seconds=3600, textfile=str(file))
    file.mkdir()
    tfmemwatch.uninstall()
    assert "could not be sent to %s" % file in caplog.text
    assert os.listdir(str(tmp_path)) == ["job.prom"]
