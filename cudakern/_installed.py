"""Locations of the package's files, and notes of its build."""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
LIBRARY = PACKAGE / "lib"
BUILD = LIBRARY / "build.json"


#: Sources from which kernels are compiled: installed with the package, or in the checkout of an editable install.
SOURCES = next(path for path in (PACKAGE / "csrc", PACKAGE.parent / "csrc") if path.is_dir())
KERNELS = SOURCES / "kernels"
HEADERS = SOURCES / "emulator" / "include"  #: CUDA's, for the emulator
#: The course, and the records that it shows.
NOTEBOOKS = PACKAGE / "notebooks" if (PACKAGE / "notebooks").is_dir() else PACKAGE.parent / "notebooks"
RECORDS = NOTEBOOKS / "records" if (NOTEBOOKS / "records").is_dir() else PACKAGE.parent / "docs/results"


def why_no_gpu_module() -> str:
    """The build's reason for not building the GPU module; "" if it recorded none."""
    try:
        return str(json.loads(BUILD.read_text(encoding="utf-8"))["_cuda"]["why_not"])
    except (OSError, ValueError, LookupError):
        return ""
