"""Locations of the package's files, and notes of its build."""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
LIBRARY = PACKAGE / "lib"
BUILD = LIBRARY / "build.json"


def folder(name: str, in_checkout: str) -> Path:
    """A folder of files from csrc/: installed with the package, or in the checkout of an editable install."""
    installed = PACKAGE / name
    return installed if installed.is_dir() else PACKAGE.parent / "csrc" / in_checkout


HEADERS = folder("include", "emulator/include")
KERNELS = folder("kernels", "kernels")


def why_no_gpu_module() -> str:
    """The build's reason for not building the GPU module; "" if it recorded none."""
    try:
        return str(json.loads(BUILD.read_text(encoding="utf-8"))["_cuda"]["why_not"])
    except (OSError, ValueError, LookupError):
        return ""
