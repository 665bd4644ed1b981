"""Runs a program to its end and leaves at once: ``python to_the_end.py SCRIPT ARGS``.

The threads of gloo abort some processes while Python is torn down, after everything has been done and printed.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.argv.pop(0)
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
