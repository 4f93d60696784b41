"""Where the package's own files lie, and what its build noted."""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
LIBRARY = PACKAGE / "lib"
BUILD = LIBRARY / "build.json"


def folder(name: str, in_checkout: str) -> Path:
    """Files of csrc/ that are installed with the package; an editable install leaves them in the checkout."""
    installed = PACKAGE / name
    return installed if installed.is_dir() else PACKAGE.parent / "csrc" / in_checkout


HEADERS = folder("include", "emulator/include")
KERNELS = folder("kernels", "kernels")


def why_no_gpu_module() -> str:
    """What the build said of the GPU module that it did not make; "" if it said nothing."""
    try:
        return str(json.loads(BUILD.read_text(encoding="utf-8"))["_cuda"]["why_not"])
    except (OSError, ValueError, LookupError):
        return ""
