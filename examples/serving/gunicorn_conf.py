"""gunicorn: two workers, each watched from its start, their metrics in one folder."""

import os
import tempfile

from tfmemwatch.gunicorn import child_exit, post_fork

__all__ = ["child_exit", "post_fork"]

os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", tempfile.mkdtemp(prefix="metrics-"))
bind = os.environ.get("BIND", "127.0.0.1:8000")
workers = 2
worker_class = "gthread"  # not preloaded: TensorFlow hangs in a child of a process that has used it
threads = 4
