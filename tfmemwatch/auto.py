"""Installs the watch by being imported: `import tfmemwatch.auto`, in a program or in a site hook.

Settings come from TFMEMWATCH_… variables. Works before or after TensorFlow is imported.
"""

from __future__ import annotations

from .api import install

install()
