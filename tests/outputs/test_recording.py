"""The recording: what was written is read again, whatever has become of the file."""

import dataclasses
import json
import os
import random
from pathlib import Path

import pytest
from test_export import finding

from tfmemwatch.errors import ConfigError, Unavailable
from tfmemwatch.memory.account import Account
from tfmemwatch.memory.limits import Limit
from tfmemwatch.memory.process import Memory
from tfmemwatch.model import Site
from tfmemwatch.outputs import recording_file
from tfmemwatch.outputs.comparison import compare
from tfmemwatch.outputs.recording import load, others, report_of, run_of
from tfmemwatch.outputs.recording_file import RecordingFile, packed, read, unpacked
from tfmemwatch.outputs.recording_text import render_recording
from tfmemwatch.outputs.report_from import report_from
from tfmemwatch.outputs.text import render
from tfmemwatch.reports import Calls, Made, Moment, OwnCost, Report

ACCOUNT = Account(1.0, 100, {"python": 60, "other": 40}, 50, 5, None, {}, {}, "glibc", ())
REPORT = Report(
    "as of 14:02", 1e9 + 30, (finding(),), Memory(5 << 20, 3 << 20, 1 << 20, 7000), account=ACCOUNT,
    made=(Made("variable", Site("train.py", 41, "step"), 9, 2, 4096),), calls=(Calls("net", "call", 5, 0, 0),),
    limits=(Limit("container limit", 1 << 30, 1 << 29, True),), history=(Moment(0.0, 1, None, {"variable": 3}),),
    own=OwnCost(0.1, 2, 3, None, 0, {}), level="sites", level_since=1e9,
)  # fmt: skip


def frames(seconds=60, findings=True, ended=True, rate=1):
    """Those of a run that looked once a second."""
    report = REPORT if findings else dataclasses.replace(REPORT, findings=())
    samples = [
        {"k": "sample", "at": 1e9 + at, "memory": [(10 << 20) + at * 1000 * rate, (5 << 20) + at * 1000 * rate, 0, 1],
         **({} if at % 10 else {"alive": {"variable": at}})}
        for at in range(seconds)
    ]  # fmt: skip
    return [
        {"k": "start", "at": 1e9, "pid": 7, "parent": 0, "program": "train.py", "pace": 1},
        *samples[: seconds // 2],
        {"k": "report", "at": 1e9 + seconds // 2, "report": report.as_dict()},
        {"k": "event", "at": 1e9 + seconds // 2, "what": "finding", "text": "retrace train.py:41"},
        *samples[seconds // 2 :],
        *([{"k": "end", "at": 1e9 + seconds, "how": "the program ended"}] if ended else []),
    ]


def written(path, what):
    file = RecordingFile(str(path))
    file.open()
    file.write(what)
    file.close()
    return str(path)


# -- a report as a plain value


def test_a_report_comes_back_from_its_json_as_it_was():
    """Every output shows a recorded one as it shows a live one."""
    back = report_from(json.loads(json.dumps(REPORT.as_dict())))
    assert back == REPORT
    assert render(back) == render(REPORT)


def test_names_that_are_not_known_are_left_out_and_missing_ones_have_their_default():
    """A report of a somewhat older or newer tfmemwatch can be shown."""
    told = dict(REPORT.as_dict(), colour="blue")
    del told["builds"]
    assert report_from(told) == REPORT


@pytest.mark.parametrize(
    "change", [{"schema": 99}, {"schema": None}, {"memory": [1]}, {"findings": 5}, {"title": None}]
)
def test_what_is_no_report_is_a_value_error(change):
    """And never half a report."""
    with pytest.raises(ValueError):
        report_from(dict(REPORT.as_dict(), **change))


# -- the file


def test_a_recording_is_read_as_it_was_written(tmp_path):
    """Samples, events, findings, the last report, and how it ended."""
    found = load(written(tmp_path / "run.tfmw", frames()))
    run = found.last
    assert (run.pid, run.program, run.seconds, run.ended) == (7, "train.py", 60, "the program ended")
    assert [moment.at for moment in run.moments] == list(range(60))
    assert run.moments[25].alive == {"variable": 20}
    assert [one.what for one in run.events] == ["finding", "end"]
    assert [(one.finding.kind, one.first) for one in run.found] == [(REPORT.findings[0].kind, 30)]
    assert report_of(run).memory.resident_bytes == (10 << 20) + 59000
    assert found.notes == []
    text = render_recording(found)
    assert "recorded of train.py, process 7" in text and "it grows" in text and "the program ended" in text


@pytest.mark.slow
def test_a_recording_that_ends_at_any_byte_can_be_read(tmp_path):
    """After kill -9, or a power cut: all whole frames are there, and the rest is said."""
    path = tmp_path / "run.tfmw"
    data = Path(written(path, frames(seconds=6))).read_bytes()
    whole = len(read(str(path)).frames)
    seen = set()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        try:
            found = read(str(path))
        except Unavailable:
            assert end <= 12  # not even the header
            continue
        assert found.lost == 0 and found.end + found.rest == end
        seen.add(len(found.frames))
        if found.frames:
            assert load(str(path)).last.pid == 7
    assert seen == set(range(whole))


def test_a_recording_goes_on_behind_what_was_cut_off(tmp_path):
    """The next run of the program appends to it; nothing of either is lost."""
    path = tmp_path / "run.tfmw"
    data = Path(written(path, frames(ended=False))).read_bytes()
    path.write_bytes(data[:-5])
    written(path, frames())
    found = load(str(path))
    assert [run.ended for run in found.runs] == ["", "the program ended"]
    assert found.lost > 0
    assert "2 runs" in found.notes[0] and "can't be read" in found.notes[1]


def test_bytes_that_changed_cost_their_frame_alone(tmp_path):
    """Whatever the bits: no other frame is lost, and no wrong one is read."""
    path = written(tmp_path / "run.tfmw", frames(seconds=20))
    data = bytearray(Path(path).read_bytes())
    whole = read(path).frames
    chance = random.Random(1)
    for _ in range(200):
        broken = bytearray(data)
        broken[chance.randrange(12, len(data))] ^= 1 << chance.randrange(8)
        found = unpacked(bytes(broken), 12).frames
        assert [one for one in found if one not in whole] == []
        assert len(found) >= len(whole) - 1


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "is empty"),
        (b"import tensorflow\n", "is no recording"),
        (b"tfmw\r\n", "ends within its first bytes"),
        (b"tfmw\r\n\x1a\n\x63\x00\x00\x00", "version 99"),
    ],
)
def test_what_is_no_recording_is_said_and_never_written_to(tmp_path, data, words):
    """A wrong name must not cost a file."""
    path = tmp_path / "run.tfmw"
    path.write_bytes(data)
    with pytest.raises(Unavailable, match=words):
        load(str(path))
    if data and data != b"tfmw\r\n":
        with pytest.raises(ConfigError, match=r"record is .*nothing is written to it"):
            written(path, frames())
        assert path.read_bytes() == data


def test_a_folder_a_pipe_and_nothing_at_all_are_said(tmp_path):
    """Nobody waits for a pipe."""
    os.mkfifo(str(tmp_path / "pipe"))
    for name, words in (("", "a folder"), ("pipe", "no file"), ("absent", "No such file")):
        with pytest.raises(Unavailable, match=words):
            load(str(tmp_path / name))
    for name in ("", "pipe", "absent/run.tfmw"):
        with pytest.raises(ConfigError, match="record is"):
            written(tmp_path / name, frames())


def test_two_at_once_have_a_file_each(tmp_path):
    """Workers that are given the same name do not write into each other's."""
    first, second = RecordingFile(str(tmp_path / "run.tfmw")), RecordingFile(str(tmp_path / "run.tfmw"))
    first.open()
    second.open()
    assert second.path == str(tmp_path / ("run-%d.tfmw" % os.getpid()))
    second.write(frames())
    assert [one.last.pid for one in others(str(tmp_path / "run.tfmw"), 0, 2e9)] == [7]
    first.close()
    second.close()


def test_a_recording_that_becomes_too_large_begins_anew_and_both_are_read(tmp_path):
    """Two files at the most."""
    path = str(tmp_path / "run.tfmw")
    file = RecordingFile(path, most_bytes=2000)
    file.open()
    for number in range(200):
        if file.is_full:
            file.turn_over()
        file.write([{"k": "event", "at": 1e9 + number, "what": "said", "text": "%d" % number}])
    file.close()
    assert sorted(os.listdir(str(tmp_path))) == ["run.tfmw", "run.tfmw.1"]
    assert os.path.getsize(path) < 2200
    numbers = [int(event.text) for event in load(path).last.events]
    assert numbers == list(range(numbers[0], 200)) and len(numbers) > 20


def test_a_write_that_does_not_fit_leaves_whole_frames(tmp_path, monkeypatch):
    """A full disk takes a part of it: that part goes again."""
    path = tmp_path / "run.tfmw"
    file = RecordingFile(str(path))
    file.open()
    file.write(frames())
    whole = path.read_bytes()
    write = os.write
    monkeypatch.setattr(recording_file.os, "write", lambda number, data: write(number, data[: len(data) // 2]))
    with pytest.raises(OSError):
        file.write(frames())
    assert path.read_bytes() == whole


def test_a_number_that_the_program_has_closed_is_not_written_to(tmp_path):
    """A program that becomes a daemon closes all, and the number is a file of its own by then."""
    file = RecordingFile(str(tmp_path / "run.tfmw"))
    file.open()
    number = file._descriptor
    os.close(number)
    own = os.open(str(tmp_path / "own"), os.O_RDWR | os.O_CREAT)
    assert own == number
    file.write(frames())
    file.close()
    os.close(own)
    assert (tmp_path / "own").read_bytes() == b""
    assert load(str(tmp_path / "run.tfmw")).last.pid == 7


@pytest.mark.slow
def test_a_frame_that_unfolds_without_end_is_no_frame():
    """A few kB are not 64 MB in the reader's hands."""
    import zlib

    body = b"z" + zlib.compress(b" " * (65 << 20))
    data = recording_file._FRAME.pack(recording_file._MARK, len(body), zlib.crc32(body)) + body
    assert unpacked(data + packed({"k": "x"})).frames == ({"k": "x"},)


# -- two of them


def test_compare_says_what_has_gone_what_is_new_and_what_is_still_there():
    """The verdict is one line."""
    leaky, cured = run_of(frames(120)), run_of(frames(120, findings=False, rate=0))
    assert compare(leaky, cured).verdict == "Fixed: nothing of before is found any more."
    assert compare(cured, leaky).verdict == "Worse: 1 finding that was not there before."
    assert compare(leaky, leaky).verdict == "Still leaks: 1 finding of before is there."
    assert compare(cured, cured).verdict == "No leak in either."
    assert (compare(leaky, cured).leaks, compare(cured, leaky).leaks) == (False, True)
    assert compare(leaky, cured).growth_before == pytest.approx(3.6e6, rel=0.01)
    assert compare(leaky, cured).growth_after == 0


def test_compare_does_not_call_fixed_what_had_no_time_to_show():
    """The second must run as long as the first took to find it."""
    found = compare(run_of(frames(120)), run_of(frames(30, findings=False)))
    assert found.verdict.startswith("Not known yet")
    assert not found.leaks


def test_compare_matches_a_line_that_the_fix_has_moved():
    """By kind, file and function."""
    moved = dataclasses.replace(
        REPORT, findings=(finding()._replace(site=finding().site._replace(line=99), rate=finding().rate / 10),)
    )  # fmt: skip
    after = [dict(one, report=moved.as_dict()) if one["k"] == "report" else one for one in frames(120)]
    found = compare(run_of(frames(120)), run_of(after))
    assert [one.word for one in found.findings] == ["still"]
