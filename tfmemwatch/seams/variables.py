"""Variables: those of a model, what one weighs, and whether it has a value of its own."""

from __future__ import annotations

from typing import Any, List

from .places import find, has


def owns_memory(variable: Any) -> bool:
    """Whether a variable has a value of its own: not what an assignment returns, nor one of a graph."""
    unread = find("unread_variable").value if has("unread_variable") else ()
    return not isinstance(variable, unread) and not variable._in_graph_mode and hasattr(variable, "_handle_name")


_MOST_WITHIN = 2000  # things that are looked through below a SavedModel


def variables_of(model: Any) -> List[Any]:
    """The variables of a Keras model or of a SavedModel, each once, those of a Keras 3 as TensorFlow's own.

    Nothing is built for it. A model that has none yet may raise, and so may a property of the user's.
    """
    held = next((list(getattr(model, name)) for name in ("weights", "variables") if hasattr(type(model), name)), None)
    if held is None:
        held = list(getattr(model, "variables", None) or _variables_within(model))
    owns = [getattr(one, "_value", None) for one in held]
    return list({id(one): one for one in (one if own is None else own for one, own in zip(held, owns))}.values())


def _variables_within(root: Any) -> List[Any]:
    """What a SavedModel would save: the variables below its root, wherever they lie."""
    kind = find("variable").holder
    found: List[Any] = []
    seen, queue = {id(root)}, [root]
    while queue and len(seen) < _MOST_WITHIN:
        for one in _children(queue.pop()):
            if isinstance(one, kind):
                found.append(one)
            elif id(one) not in seen:
                seen.add(id(one))
                queue.append(one)
    return found


def _children(thing: Any) -> List[Any]:
    if hasattr(thing, "_trackable_children"):
        return list(thing._trackable_children().values())
    return [one.ref for one in getattr(thing, "_checkpoint_dependencies", ())]


def variable_bytes(variable: Any) -> int:
    """What a variable weighs; 0 where its shape is not known."""
    return int(variable.shape.num_elements() or 0) * int(variable.dtype.size)
