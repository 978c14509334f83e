"""Custom gradients: each trace registers its own for ever, and each entry pins the whole graph of its trace."""

from __future__ import annotations

from typing import Any

from ..seams import places
from .scene import Probe


class Gradients(Probe):
    """Sees what enters the registry that nothing ever leaves."""

    name = "gradients"
    watches = "custom gradients in the gradient registry, by line"

    def install(self) -> None:
        places.find("gradient_registry")
        self.after("gradient_register", self._registered)

    def _registered(self, result: Any, registry: Any, candidate: Any, name: Any = None) -> None:
        if isinstance(name, str) and name.startswith("CustomGradient-"):
            self.scene.happened("custom_gradient")
