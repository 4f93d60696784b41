"""NVRTC, CUDA's compiler as a library, which is loaded when it is needed: from a toolkit, or from NVIDIA's wheels."""

from __future__ import annotations

import ctypes
import functools
import os
import sysconfig
from collections.abc import Iterable, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p, create_string_buffer
from pathlib import Path

_LIBRARIES = ("libnvrtc.so.13", "libnvrtc.so.12")
#: Standard headers that programs include, and that NVRTC does not have: three files of ours for those of numbers, and
#: empty ones, since it knows the mathematical functions, printf and assert anyway.
_NUMBERS = {"limits.h": "climits", "stdint.h": "cstdint", "float.h": "cfloat"}
_EMPTY = (
    "math.h", "cmath", "stdio.h", "cstdio", "assert.h", "cassert", "stddef.h", "cstddef", "stdlib.h", "cstdlib",
    "string.h", "cstring", "stdbool.h", "cuda.h",
)  # fmt: skip


@functools.cache
def _headers() -> dict[str, str]:
    """These headers' texts, by their names in C and in C++."""
    folder = Path(__file__).with_name("nvrtc_headers")
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in _NUMBERS}
    return dict.fromkeys(_EMPTY, "") | texts | {_NUMBERS[name]: text for name, text in texts.items()}


class NotFoundError(ImportError):
    """NVRTC is not installed."""


def roots() -> list[Path]:
    """Where toolkits and wheels are."""
    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    return [*(Path(home) for home in homes if home), *packages.glob("cu1[0-9]"), packages / "cuda_nvrtc",
            packages / "cuda_runtime", Path("/usr/local/cuda")]  # fmt: skip


@functools.cache
def _library() -> ctypes.CDLL:
    for name in _LIBRARIES:
        for path in (name, *(str(root / lib / name) for root in roots() for lib in ("lib64", "lib"))):
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
    advice = "pip install nvidia-cuda-nvrtc nvidia-cuda-runtime, or set CUDA_HOME"
    raise NotFoundError(f"NVRTC, which compiles for a GPU, is neither in a CUDA toolkit nor in a wheel here: {advice}")


def headers() -> list[Path]:
    """The folders of CUDA's headers (cuda_fp16.h, cooperative_groups.h), if they are installed."""
    includes = [root / "include" for root in roots() if (root / "include" / "cuda_fp16.h").is_file()][:1]
    return includes + [path / "cccl" for path in includes if (path / "cccl").is_dir()]


@functools.cache
def version() -> tuple[str, str]:
    """Of the library."""
    major, minor = c_int(), c_int()
    _check(_library().nvrtcVersion(byref(major), byref(minor)))
    return str(major.value), str(minor.value)


def identity() -> list[str]:
    """What differs between versions of the compiler and of CUDA's headers."""
    files = [path for folder in headers() for path in (folder, folder / "cuda.h") if path.exists()]
    return [*version(), *(f"{path} {path.stat().st_mtime_ns}" for path in files), str(_headers())]


def _check(code: int) -> None:
    if code:
        _library().nvrtcGetErrorString.restype = c_char_p
        raise RuntimeError(f"NVRTC: {_library().nvrtcGetErrorString(code).decode()}")


def _text(program: c_void_p, what: str) -> bytes:
    size = c_size_t()
    _check(getattr(_library(), f"nvrtcGet{what}Size")(program, byref(size)))
    buffer = create_string_buffer(size.value)
    _check(getattr(_library(), f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def _strings(texts: Iterable[str]) -> ctypes.Array[c_char_p]:
    encoded = [text.encode() for text in texts]
    return (c_char_p * len(encoded))(*encoded)


def compile(
    text: str, name: str, options: Sequence[str], kernels: Sequence[str], variables: Sequence[str]
) -> tuple[dict[str, str], bytes | None, str]:
    """The linker's names of kernels and variables, the code (None if there are errors), and the compiler's output."""
    nvrtc, program = _library(), c_void_p()
    contents, names = _strings(_headers().values()), _strings(_headers())
    _check(nvrtc.nvrtcCreateProgram(byref(program), text.encode(), name.encode(), len(names), contents, names))
    try:
        expressions = {kernel: kernel.encode() for kernel in kernels} | {v: f"&{v}".encode() for v in variables}
        for expression in (*expressions.values(), b"ck_described_kernels", b"ck_described_variables"):
            _check(nvrtc.nvrtcAddNameExpression(program, expression))
        code = nvrtc.nvrtcCompileProgram(program, len(options), _strings(options))
        log = _text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
        if code:
            if not log:
                _check(code)
            return {}, None, log
        linkers = {}
        for what, expression in expressions.items():
            lowered = c_char_p()
            _check(nvrtc.nvrtcGetLoweredName(program, expression, byref(lowered)))
            linkers[what] = (lowered.value or b"").decode()
        is_ptx = any(option.startswith("--gpu-architecture=compute") for option in options)
        return linkers, _text(program, "PTX" if is_ptx else "CUBIN"), log
    finally:
        nvrtc.nvrtcDestroyProgram(byref(program))
