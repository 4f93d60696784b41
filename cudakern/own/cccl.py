"""CCCL: Thrust, CUB and libcu++ (<cuda/std/...>, <cuda/barrier>, ...), which are headers of CUDA's toolkit.

They are found in the toolkit or in the wheel that NVIDIA publishes, and are compiled as they are. Some headers of ours,
in emulator/cccl, come before them: one compilation serves both host and device; and Thrust's algorithms on the device
are loops on the host, which first wait for the device. <cuda/atomic> alone is our own, which compiles faster.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
from pathlib import Path

from .._installed import HEADERS
from . import cache

#: What g++ and clang say if a source includes a header of CCCL.
_MISSED = re.compile(r"fatal error: '?((?:thrust|cub|cuda|nv)/[\w./]+)(?:: No such file|' file not found)")
_VERSION = "cuda/std/__cccl/version.h"
_OURS = HEADERS / "emulator/cccl"
#: Thrust's device is its sequential one; CUB launches no kernels from kernels; types that the emulator lacks.
_OPTIONS = [
    "-D__CUDA_ARCH_LIST__=__CUDA_ARCH__",
    "-DTHRUST_DEVICE_SYSTEM=4",
    "-DCUB_DISABLE_CDP",
    "-DCCCL_DISABLE_NVTX",
    "-DCCCL_DISABLE_NVFP8_SUPPORT",
    "-D_CCCL_DISABLE_NVFP8_SUPPORT",
]


def needed(messages: str) -> str | None:
    """The header of CCCL that a compiler's messages miss, if any."""
    match = _MISSED.search(messages)
    return match[1] if match else None


def options(folder: Path) -> list[str]:
    """The preprocessor's, for the headers in that folder."""
    return [f"-I{_OURS}", f"-I{folder}", *_OPTIONS]


@functools.cache
def found() -> Path | None:
    """The folder with CCCL's headers; None if there is none. One before 3.1 comes first: from then on, CUB needs more
    of the driver's functions than the emulator has."""
    places = [place for folder in _candidates() for place in (folder / "cccl", folder)]
    there = [place for place in places if (place / _VERSION).is_file() and (place / "thrust/version.h").is_file()]
    best = min(there, key=lambda place: _version(place) >= 3_001_000, default=None)
    return best and _alone(best)


def _alone(place: Path) -> Path:
    """The folder, or if it holds the toolkit's other headers as well (before CUDA 13), one with links to CCCL's."""
    if not (place / "cuda_runtime.h").exists():
        return place
    links = cache._folder() / f"cccl-{cache.key(str(place))[:16]}"
    links.mkdir(parents=True, exist_ok=True)
    for name in ("cub", "cuda", "nv", "thrust"):
        with contextlib.suppress(FileExistsError):
            (links / name).symlink_to(place / name)
    return links


def _version(place: Path) -> int:
    match = re.search(r"define CCCL_VERSION (\d+)", (place / _VERSION).read_text())
    return int(match[1]) if match else 0


def _candidates() -> list[Path]:
    folders = [Path(named) / "include" for name in ("CUDA_HOME", "CUDA_PATH") if (named := os.environ.get(name))]
    spec = importlib.util.find_spec("nvidia")
    for part in spec.submodule_search_locations or () if spec else ():
        folders += [Path(part) / name / "include" for name in ("cu13", "cuda_cccl", "cu12")]
    return [*folders, Path("/usr/local/cuda/include"), Path("/usr/local/include"), Path("/usr/include")]
