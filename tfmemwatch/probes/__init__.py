"""One file for each way in which TensorFlow grows: a probe sees and counts, and decides nothing.

May import reports, and what is below.
"""

from __future__ import annotations

from typing import Dict, Tuple, Type

from . import builds, caches, datasets, gradients, graphs, models, pyfuncs, sessions, tapes, traces, variables, writers
from .scene import Probe

PROBES: Tuple[Type[Probe], ...] = (
    traces.Traces,
    builds.Builds,
    variables.Variables,
    sessions.Sessions,
    graphs.Graphs,
    models.Models,
    gradients.Gradients,
    datasets.Datasets,
    tapes.Tapes,
    pyfuncs.Pyfuncs,
    writers.Writers,
    caches.Caches,
)
BY_NAME: Dict[str, Type[Probe]] = {probe.name: probe for probe in PROBES}
