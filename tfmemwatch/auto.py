"""Installs the watch by being imported: `import tfmemwatch.auto`, in a program or in a site hook.

Settings come from TFMEMWATCH_… variables. A setting that can't be used, such as a port in use, is a warning.
Works before or after TensorFlow is imported.
"""

from __future__ import annotations

import sys

from .api import install_as_far_as_possible
from .ledger import site

install_as_far_as_possible(site.here(sys._getframe()))
