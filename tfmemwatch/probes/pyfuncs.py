"""Python functions that TensorFlow holds for py_function, numpy_function and from_generator."""

from __future__ import annotations

from typing import Any

from ..seams import places
from .scene import Probe


class Pyfuncs(Probe):
    """Sees each function that enters the registry."""

    name = "pyfuncs"
    watches = "live functions in the py_function registry, by line; eager py_function calls (each a new kernel)"

    def install(self) -> None:
        self._eagerly = places.find("executing_eagerly").value
        self.after("pyfunc_insert", self._inserted)

    def _inserted(self, result: Any, registry: Any, func: Any) -> None:
        self.scene.born("pyfunc", func)
        if self._eagerly():
            self.scene.happened("pyfunc_token")
