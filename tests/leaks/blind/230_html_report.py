"""A monitoring job that writes its report as one HTML string, to which each batch adds its table.
LEAK python_objects|native_heap
"""

# One step makes the string some 12 KB longer.
from __future__ import annotations

import numpy as np
import tensorflow as tf


def table(rows: np.ndarray) -> str:
    lines = []
    for row in rows:
        lines.append("<tr>" + "".join("<td>%.3f</td>" % value for value in row) + "</tr>")
    return "<table>" + "\n".join(lines) + "</table>"


class HtmlReport:
    def __init__(self, title: str) -> None:
        self.html = "<h1>%s</h1>\n" % title

    def section(self, heading: str, rows: np.ndarray) -> None:
        text = "<h2>%s</h2>\n%s\n" % (heading, table(rows))
        self.html += text  # leak

    def save(self, path: str) -> None:
        with open(path, "w") as file:
            file.write(self.html)


class Monitor:
    def __init__(self) -> None:
        self.w = tf.random.normal([20, 12])
        self.report = HtmlReport("Drift")

    def batch(self, i: int, x: np.ndarray) -> None:
        probabilities = tf.nn.softmax(tf.matmul(tf.constant(x), self.w)).numpy()
        self.report.section("batch %d" % i, probabilities)


def setup() -> Monitor:
    return Monitor()


def step(state: Monitor, i: int) -> None:
    state.batch(i, np.random.default_rng(i).normal(size=(64, 20)).astype(np.float32))
