"""Installs the watch by being imported: `import tfmemwatch.auto`, or `python -c "import tfmemwatch.auto"` in a site hook.

Settings come from TFMEMWATCH_… variables. Works before or after TensorFlow is imported.
"""
from __future__ import annotations

from .api import install

install()
