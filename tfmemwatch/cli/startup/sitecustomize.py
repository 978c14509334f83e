"""Python runs this before the program that `tfmemwatch run` starts: it leaves no trace, and waits for TensorFlow.

Nothing else of tfmemwatch is loaded until the program imports TensorFlow: until then it is as it would be alone.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys
from typing import Any

_AWAITED = ("tensorflow", "tensorflow_core", "keras", "tf_keras", "tfmemwatch.api")
_SELF = sys.modules.get(__name__)


class _Waiting:
    """A finder that finds nothing itself: it hears of the first import of TensorFlow, and leaves."""

    def __init__(self, told: Any) -> None:
        self.told = told

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Watch, as this is TensorFlow; then ask those who find."""
        if name not in _AWAITED or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        _watch(self.told)
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def _watch(told: Any) -> None:
    """Whatever goes wrong in it is told by `tfmemwatch run`, at the end: the program goes on."""
    if sys.modules.get(__name__) is _SELF:
        del sys.modules[__name__]
    sys.path.insert(0, told["package"])
    try:
        from tfmemwatch.cli import under_run

        under_run.begin(told)
    except Exception:
        import traceback

        with open(os.path.join(told["folder"], "failed"), "w", encoding="utf-8") as file:
            json.dump(traceback.format_exc(), file)
    finally:
        sys.path.remove(told["package"])


def _begin() -> None:
    told = os.environ.pop("TFMEMWATCH_RUN", None)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    if told is None:
        return
    wanted = dict(json.loads(told), pid=os.getpid())
    if wanted["pythonpath"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = wanted["pythonpath"]
    sys.meta_path.insert(0, _Waiting(wanted))


def _go_on() -> None:
    """There may be a `sitecustomize` of the user's: it has its turn now, and its name."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_begin()
_go_on()
