"""The variables of a whole program's device, which cudaDeviceReset gives their first values again.

    __device__ int a;  namespace n { __constant__ float b[4]; }
        -->  int a;  namespace n { float b[4]; }  ...  static ::emu::variable emu_variables[] = {::a, ::n::b};

For that, the words are still there after the preprocessor: device_qualifiers.h. translate.py takes them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .cuda_source import contents

WORDS = re.compile(r"__(?:device|constant)__(?!\w)")
#: After such a word, a variable may be declared.
_DECLARED = re.compile(rf"{WORDS.pattern}[^;{{}}()]*[;=\[{{]")


def registered(parts: Iterable[str]) -> str:
    """The code that tells the core of these texts' variables."""
    text = "\n".join(parts)
    names = contents(text).variables if _DECLARED.search(text) else ()
    known = ", ".join(f"::{name}" for name in names)
    return f"static ::emu::variable emu_variables[] = {{{known}}};" if known else ""
