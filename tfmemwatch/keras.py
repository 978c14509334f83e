"""A callback for `fit`, `evaluate` and `predict`, of any Keras: `model.fit(…, callbacks=[LeakCallback()])`.

It is no subclass of Keras's own: so one class serves tf.keras, tf_keras and Keras 3, and none of them is imported here.
"""

from __future__ import annotations

import sys
import threading
import time
from types import CodeType, FrameType
from typing import Any, Dict, List, MutableMapping, NamedTuple, Optional, Union

from .api import watch
from .errors import LeakFound, Unavailable
from .memory.process import Memory
from .model import Finding
from .monitor.loop import Loop, Stop, checked, save
from .reports import Report
from .safety import guard

__all__ = ["LeakCallback"]

_WARMUP = 2  # batches: the first ones trace, and make the slots of the optimizer
_READING_SECONDS = 0.1  # between two readings of memory in use, which may take long
_STOPS = {"fit": "stop_training", "evaluate": "stop_evaluating", "predict": "stop_predicting"}


class _Caller(NamedTuple):
    """The call of Keras that runs the callback; a frame is known by its id, so that nothing is kept alive."""

    thread: int
    frame: int
    code: CodeType

    @property
    def is_running(self) -> bool:
        """Whether it has not returned."""
        frame: Optional[FrameType] = sys._current_frames().get(self.thread)
        while frame is not None:
            if id(frame) == self.frame and frame.f_code is self.code:
                return True
            frame = frame.f_back
        return False


def _past_hooks(frame: FrameType) -> FrameType:
    """The call that runs the callbacks: past `on_train_begin` of lists and wrappers, and `_call_begin_hook`."""
    while frame.f_back is not None and frame.f_code.co_name.startswith(("on_", "_")):
        frame = frame.f_back
    return frame


class _Hooks:
    """What Keras calls, each by its name; what does not matter here does nothing."""

    # What Keras asks of a callback beside its methods.
    params: Any = None
    validation_data: Any = None
    _chief_worker_only = None
    _supports_tf_logs = True  # it reads no logs: nothing is copied from a device for it
    async_safe = False

    def set_params(self, params: Any) -> None:
        """Keras says what it is about to do."""
        self.params = params

    def on_train_begin(self, logs: Any = None) -> None:
        """A fit() begins."""
        self._begin("fit", sys._getframe(1))

    def on_test_begin(self, logs: Any = None) -> None:
        """An evaluate() begins, which may be the validation of a fit()."""
        self._begin("evaluate", sys._getframe(1))

    def on_predict_begin(self, logs: Any = None) -> None:
        """A predict() begins."""
        self._begin("predict", sys._getframe(1))

    def on_train_end(self, logs: Any = None) -> None:
        """A fit(), an evaluate() or a predict() has ended."""
        self._end()

    def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
        """A batch is a step, where it is not of the validation of a fit()."""
        self._step(batch)

    def on_batch_begin(self, batch: Any, logs: Any = None) -> None:
        """Nothing."""

    def on_batch_end(self, batch: Any, logs: Any = None) -> None:
        """Nothing: the same batch is told under another name."""

    on_test_end = on_predict_end = on_train_end
    on_test_batch_end = on_predict_batch_end = on_train_batch_end
    on_train_batch_begin = on_test_batch_begin = on_predict_batch_begin = on_batch_begin

    def _implements(self) -> bool:
        """Keras 2 asks whether batches are of interest."""
        return True

    _implements_train_batch_hooks = _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements

    def _begin(self, mode: str, hook: FrameType) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError

    def _step(self, batch: Any) -> None:
        raise NotImplementedError


class LeakCallback(_Hooks):
    """Judges a training batch by batch, writes `mem/…` into its logs, and ends it before the limit kills it.

    - `on_leak`: what follows a leak: `"warn"` (the log says it), `"stop"` the training, or `"raise"` LeakFound.
    - `stop_at`: the share of a memory limit at which a training that grows is ended; None: never.
    - `checkpoint`: a path to which the model is saved then, or a function that is given the model.

    Put it first in the list: callbacks after it (CSVLogger, TensorBoard, W&B, MLflow) see what it writes.
    """

    model: Any = None

    def __init__(
        self, on_leak: str = "warn", stop_at: Optional[float] = 0.9, checkpoint: Union[str, Any, None] = None
    ) -> None:
        checked(on_leak, stop_at, type(self).__name__)
        self.on_leak, self.stop_at, self.checkpoint = on_leak, stop_at, checkpoint
        self.stopped = ""  # why it has ended a training
        self._forget()

    def _forget(self) -> None:
        self._loop: Optional[Loop] = None
        self._last: Optional[Loop] = None  # that has ended: what it found can still be asked for
        self._mode = ""
        self._caller: Optional[_Caller] = None
        self._inner = 0  # runs within the one that is watched
        self._is_new = True  # Keras has set the model since the last run began
        self._batch: Any = None
        self._held_first: Optional[int] = None
        self._batches = 0
        self._read: Optional[Memory] = None
        self._read_at = 0.0

    def __getstate__(self) -> Dict[str, Any]:
        """A copy has the same settings, and watches nothing."""
        return {"on_leak": self.on_leak, "stop_at": self.stop_at, "checkpoint": self.checkpoint}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    # -- what one can ask

    @property
    def findings(self) -> List[Finding]:
        """What leaks, or leaked, in the last run."""
        loop = self._loop or self._last
        return loop.block.findings if loop is not None else []

    def report(self) -> Report:
        """What the last run made, freed and kept."""
        loop = self._loop or self._last
        if loop is None:
            raise Unavailable("nothing has been watched yet: give the callback to fit(), evaluate() or predict()")
        return loop.block.report()

    # -- a run begins and ends

    def set_model(self, model: Any) -> None:
        """Keras says with which model."""
        if self._loop is None or self._caller is None or not self._caller.is_running:
            self.model = model
        self._is_new = True

    def _begin(self, mode: str, hook: FrameType) -> None:
        """Watch from now on. What an interrupt has left open is ended first."""
        is_new, self._is_new = self._is_new, False
        at = _past_hooks(hook)
        caller = _Caller(threading.get_ident(), id(at), at.f_code)
        if self._loop is not None and self._caller is not None and self._caller.is_running:
            is_same = caller == self._caller and mode == self._mode  # TensorFlow 1.15 validates in the call of fit()
            if not (is_same and is_new):
                self._begin_another(mode, is_same)
                return
        if self._loop is not None:
            self._loop.end()
        self._forget()
        self._is_new, self._caller, self._mode, self.stopped = False, caller, mode, ""
        loop = Loop(watch(mode + "()", warmup=_WARMUP), self.on_leak, self.stop_at)
        loop.begin()
        self._loop = loop

    def _begin_another(self, mode: str, is_same: bool) -> None:
        """One callback watches one run at a time; the validation of a fit() is a part of it."""
        is_here = self._caller is not None and self._caller.thread == threading.get_ident()
        if is_same:
            guard.logger.warning("this LeakCallback stands twice in one list of callbacks; once is enough")
            return
        if is_here:
            self._inner += 1
        if mode == "fit":
            guard.logger.warning(
                "this LeakCallback is used twice at once: it goes on watching the fit() that has not ended, and does "
                "not watch the other one; give each fit() a LeakCallback() of its own"
            )

    def _end(self) -> None:
        if not self._is_ours():
            if self._is_here():
                self._inner -= 1
            return
        loop, self._loop = self._loop, None
        self._last, self._caller = loop, None
        if loop is not None:
            loop.end()

    def _is_here(self) -> bool:
        return self._caller is not None and self._caller.thread == threading.get_ident()

    def _is_ours(self) -> bool:
        """Whether what is said now is said of the run that is watched."""
        return self._loop is not None and self._is_here() and not self._inner

    # -- batches and epochs

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """An epoch begins."""
        self._batch, self._batches = None, 0
        self._held_first = self._held()

    def on_epoch_end(self, epoch: int, logs: Optional[MutableMapping[str, Any]] = None) -> None:
        """Write into the logs of the epoch, where loggers look."""
        if self._is_ours() and logs is not None and "mem/resident_mb" not in logs:
            try:
                logs.update(self._readings())
            except Exception:
                guard.failed("callback: logs")

    def _step(self, batch: Any) -> None:
        loop = self._loop
        if loop is None or not self._is_ours() or batch == self._batch is not None:
            return
        self._batch = batch
        self._batches += 1
        stop = loop.step()
        if stop is not None:
            self._stop(loop, stop)

    def _readings(self) -> Dict[str, float]:
        """The same names in each epoch: a CSV file has its columns from the first."""
        loop = self._loop
        if loop is None:
            return {}
        memory = self._memory(loop)
        grown = (memory.held_bytes or 0) - (self._held_first or memory.held_bytes or 0)
        return {
            "mem/resident_mb": (memory.resident_bytes or 0) / 1e6,
            "mem/per_batch_kb": grown / 1e3 / max(1, self._batches),
            "mem/limit_used": loop.used_share or 0.0,
            "mem/leaks": float(len([one for one in loop.block.findings if one.is_sure])),
        }

    def _held(self) -> Optional[int]:
        if self._loop is None or not self._is_ours():
            return None
        return self._memory(self._loop).held_bytes

    def _memory(self, loop: Loop) -> Memory:
        """The last reading, if it is new enough: epochs may be short."""
        now = time.monotonic()
        if self._read is None or now >= self._read_at + _READING_SECONDS:
            self._read, self._read_at = loop.block.running().answers.memory_exactly(), now
        return self._read

    def _stop(self, loop: Loop, stop: Stop) -> None:
        """End the run; as an error, where a leak is one."""
        if self.stopped and self.on_leak != "raise":
            return
        if stop.finding is not None and self.on_leak == "raise":
            self._end()
            raise LeakFound(stop.why)
        saved = save(self.model, self.checkpoint, lambda: "LeakCallback") if self._mode == "fit" else ""
        self.stopped = stop.why
        setattr(self.model, _STOPS[self._mode], True)
        guard.logger.warning("%s (%s)", stop.why, saved or "it is ended where this Keras can")
