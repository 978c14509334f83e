"""Run programs of the gallery, each in a process of its own, and print what was named: a line of JSON for each.

python run_gallery.py python_float python_float_cured ... [--pages FOLDER]

TensorFlow is imported once; what then runs a program is a fork.
"""

import argparse
import contextlib
import dataclasses
import importlib
import io
import json
import os
import runpy
import sys
import traceback
from pathlib import Path

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
TREE = Path(__file__).resolve().parent.parent.parent
PROGRAMS = TREE / "examples" / "gallery"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--pages", help="a folder, to which the page of each is written")
    asked = parser.parse_args()
    for package in ("tensorflow", "tfmemwatch"):
        importlib.import_module(package)  # for all forks

    for name in asked.names:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            try:
                print(json.dumps({"name": name, **outcome(name, asked.pages)}), flush=True)
            except BaseException:
                traceback.print_exc()
            os._exit(0)  # what has leaked is slow to take down
        os.waitpid(child, 0)


def outcome(name, pages):
    """What a program has printed, and what was named in it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        variables = runpy.run_path(str(PROGRAMS / (name + ".py")), run_name="__main__")
    (watched,) = [one for one in variables.values() if hasattr(one, "assert_clean")]
    report = watched.report()
    if pages:
        write_page(report, Path(pages) / (name + ".html"))
    found = [[one.kind, os.path.basename(one.site.file), one.site.line] for one in watched.findings]
    return {"named": found, "word": report.headline.word, "printed": printed.getvalue()}


def write_page(report, path):
    """The report as a page, without what is of this machine."""
    from tfmemwatch.outputs import html_page

    page = html_page.page(dataclasses.replace(report, program=None))
    path.write_text(page.replace(str(TREE) + "/", ""), encoding="utf-8")


if __name__ == "__main__":
    main()
