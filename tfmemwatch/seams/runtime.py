"""TensorFlow's runtime: what is imported, whether it was started, which functions and devices it knows."""

from __future__ import annotations

import re
import sys
from typing import Any, Dict, List, Optional, Tuple

from .places import find, has


def versions() -> Dict[str, str]:
    """What is imported, by name: for reports, never for decisions."""
    names = ("tensorflow", "keras", "tf_keras", "numpy", "wrapt")
    found = {}
    for name in names:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[name] = str(version)
    return found


def version() -> Optional[Tuple[int, int]]:
    """The version, for what is known of versions: never for what to do."""
    found = re.match(r"(\d+)\.(\d+)", versions().get("tensorflow", ""))
    return (int(found.group(1)), int(found.group(2))) if found else None


def registered_functions() -> Optional[int]:
    """How many functions TensorFlow's runtime knows, in some 20 µs; None where it has not been started, or is mute."""
    names = function_names()
    return None if names is None else len(names)


_WRAPPED = "__wrapped__"  # the runtime's own, around an operation that is run eagerly: one for each kind, for ever


def function_names() -> Optional[List[str]]:
    """The functions that TensorFlow's runtime knows; None where it has not been started, or is mute."""
    if not is_used() or not has("context"):
        return None
    names = getattr(find("context").value(), "list_function_names", None)
    return None if names is None else [one for one in map(_text, names()) if not one.startswith(_WRAPPED)]


def registered_name(owner: Any) -> str:
    """Under which name the owner of a registered function has registered it."""
    return _text(owner.name)


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def is_used() -> bool:
    """Whether TensorFlow's runtime has been started in this process."""
    if not has("context_object"):
        return False
    context = find("context_object").value
    return context is not None and getattr(context, "_context_handle", None) is not None


def device_memory() -> Dict[str, int]:
    """Bytes in use on each device that has an allocator of its own, by name; starts no runtime."""
    if not is_used():
        return {}
    context = find("context").value()
    found = {}
    for device in getattr(context, "list_logical_devices", list)():
        if device.device_type == "CPU":
            continue  # its memory is malloc's, and it answers zeros
        try:
            found[str(device.name)] = int(context.get_memory_info(device.name)["current"])
        except Exception:
            continue  # it has no allocator that can be asked
    return found
