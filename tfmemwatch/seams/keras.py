"""Every Keras of the program, and what its models hold: Keras 2, tf_keras and Keras 3 can live in one process."""

from __future__ import annotations

import sys
from typing import Any, List, NamedTuple, Set, Tuple

from .places import find, has, root


class Keras(NamedTuple):
    """One Keras of the program: Keras 2, tf_keras and Keras 3 can live in one process."""

    name: str
    model: Any
    optimizers: Tuple[Any, ...]
    symbolic: Tuple[Any, ...]  # what stands for a tensor while a functional model is put together


_SYMBOLIC = (
    "keras.src.backend.common.keras_tensor:KerasTensor",
    "keras.src.engine.keras_tensor:KerasTensor",
    "keras.engine.keras_tensor:KerasTensor",
    "tf_keras.src.engine.keras_tensor:KerasTensor",
)


def kerases() -> List[Keras]:
    """Every Keras that has been imported; imports none."""
    found: List[Keras] = []
    for name, models, optimizers in (
        ("keras 3", ("keras.src.models.model:Model",), ("keras.src.optimizers.base_optimizer:BaseOptimizer",)),
        ("keras 2", ("keras.src.engine.training:Model", "keras.engine.training:Model"), _optimizers("keras.")),
        ("tf_keras", ("tf_keras.src.engine.training:Model", "tf_keras.engine.training:Model"),
         _optimizers("tf_keras.")),
        ("tensorflow.keras", (root() + "keras.engine.training:Model",),
         (root() + "keras.optimizer_v2.optimizer_v2:OptimizerV2",)),
    ):  # fmt: skip
        model = next(filter(None, map(_loaded, models)), None)
        if model is not None and all(model is not other.model for other in found):
            symbolic = tuple(filter(None, map(_loaded, (*_SYMBOLIC, root() + "framework.ops:Tensor"))))
            found.append(Keras(name, model, tuple(filter(None, map(_loaded, optimizers))), symbolic))
    return found


def _optimizers(package: str) -> Tuple[str, ...]:
    return tuple(
        package + place
        for place in (
            "src.optimizers.optimizer:_BaseOptimizer",
            "src.optimizers.legacy.optimizer_v2:OptimizerV2",
            "optimizers.optimizer:_BaseOptimizer",
            "optimizers.legacy.optimizer_v2:OptimizerV2",
            "optimizers.optimizer_experimental.optimizer:_BaseOptimizer",
            "optimizers.optimizer_v2.optimizer_v2:OptimizerV2",
        )
    )


def _loaded(place: str) -> Any:
    """A class of a module that is already imported, or None."""
    module_name, name = place.split(":")
    return getattr(sys.modules.get(module_name), name, None)


def kinds_of_models() -> Set[type]:
    """The classes of all Keras models there may be."""
    found: Set[type] = {keras.model for keras in kerases()}
    below: List[Any] = list(found)
    while below:
        children: List[Any] = [child for child in type.__subclasses__(below.pop()) if child not in found]
        found.update(children)
        below += children
    return found


def functions_of(model: Any) -> List[Any]:
    """The tf.functions that a model keeps for `fit`, `predict` and so on."""
    if not has("function"):
        return []
    kind = find("function").value
    found = []
    values = list(vars(model).values())
    for table in [one for one in values if type(one) is dict]:  # where TensorFlow 1.15 has them
        values += table.values()
    for value in values:
        cells = getattr(value, "__closure__", None) or ()
        found += [one for one in (value, *map(_content, cells)) if isinstance(one, kind)]
    return found


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has no value yet
        return None


def clear_sessions() -> List[str]:
    """Call `clear_session` of every Keras that has been imported, and of TensorFlow's own; their names."""
    cleared: List[str] = []
    for name in ("keras", "tf_keras", "tensorflow"):
        module = sys.modules.get(name)
        if name == "tensorflow" and not cleared:
            module = getattr(module, "keras", None)
        backend = getattr(module, "backend", None)
        for holder in (backend, getattr(module, "utils", None)):
            clear = getattr(holder, "clear_session", None)
            if clear is not None:
                clear()
                cleared.append(name)
                break
    return cleared
