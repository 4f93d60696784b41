#!/usr/bin/env python3
"""DLPack capsules that lie: drawn from a seed, for a time. Each must end in one of our errors, or in an array that is
what the capsule said. Shapes, strides, types, devices, versions, null pointers, offsets, names, objects' answers.

    .ci/fuzz_dlpack.py [--seconds 30] [--seed N] [--count N]

It prints its seed first: the same seed draws the same capsules. Each number of a capsule draws from a seed of its own,
so --only N makes that one again."""

import argparse
import ctypes
import faulthandler
import gc
import itertools
import math
import os
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np

import capsules
import cudakern as ck

FLOAT_OF = {16: "float16", 32: "float32", 64: "float64"}
REFUSALS = (ValueError, BufferError, TypeError)  # MemoryError: only where there is none
MEMORY = 4096  # bytes that capsules may really describe
WILD = (0, 1, -1, 2, 15, 16, 17, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 2**63 - 8)


def fits(number, bits):
    return -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)


class Liar:
    """An object of another library, and the tensor that it gives away."""

    def __init__(self, draw, memory):
        self.draw, self.memory, self.deleted = draw, memory, 0
        self.versioned = draw.random() < 0.6
        self.managed = capsules.Versioned() if self.versioned else capsules.Old()
        self.deleter = capsules.DELETER(self.delete)
        self.has_deleter = draw.random() < 0.9
        self.lies = set(draw.sample(sorted(LIES), draw.choice((0, 0, 1, 1, 1, 2, 3))))
        self.answer = self.place = None
        self.honest()
        for lie in sorted(self.lies):
            LIES[lie](self)
        self.fill()
        self.capsule = capsules.new_capsule(ctypes.addressof(self.managed), self.name, capsules.DESTROY)

    def honest(self):
        """A tensor that lies in the memory, in any layout."""
        draw = self.draw
        self.code, self.bits = draw.choice(
            [(0, 8), (0, 16), (0, 32), (0, 64), (1, 8), (1, 16), (1, 32), (1, 64), (2, 16), (2, 32), (2, 64), (4, 16)]
            + [(5, 64), (5, 128), (6, 8)]
        )
        self.lanes, self.major, self.minor, self.flags = 1, 1, draw.choice((0, 0, 1, 99)), draw.choice((0, 0, 1, 2, 3))
        self.device, self.ndim = (capsules.CPU, draw.choice((0, 0, 7))), None
        size = self.bits // 8
        self.shape = [draw.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 5, 16)))]
        while math.prod(self.shape) * size > MEMORY // 4:
            self.shape[draw.randrange(len(self.shape))] = 1
        steps, step = [], 1
        for n in reversed(self.shape):
            steps.append(draw.choice((step, step, step, -step, 0)))
            step *= max(n, 1)
        self.strides = steps[::-1]
        if all(n >= 0 for n in self.shape) and draw.random() < 0.2:
            self.strides = None
        self.data, self.offset = self.memory.ctypes.data + MEMORY // 2, draw.choice((0, 0, 8, 64, 1))
        self.name = b"dltensor_versioned" if self.versioned else b"dltensor"

    def fill(self):
        managed, tensor = self.managed, self.managed.tensor
        if self.versioned:
            managed.major, managed.minor, managed.flags = self.major, self.minor, self.flags
        managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p) if self.has_deleter else None
        tensor.data, tensor.byte_offset = self.data, self.offset
        tensor.device_type, tensor.device_id = self.device
        tensor.code, tensor.bits, tensor.lanes = self.code, self.bits, self.lanes
        tensor.ndim = len(self.shape or ()) if self.ndim is None else self.ndim
        for field, values in (("shape", self.shape), ("strides", self.strides)):
            if values is not None:
                setattr(tensor, field, (ctypes.c_int64 * max(len(values), 1))(*values))

    def delete(self, address):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device if self.place is None else self.place

    def __dlpack__(self, **words):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.capsule if self.answer is None else self.answer

    def must_be_taken(self):
        return not self.lies

    def is_sane(self):
        """What an array that was taken must have been, by DLPack's specification."""
        if self.answer is not None or (self.versioned and self.major != 1):
            return False
        ndim = len(self.shape or ()) if self.ndim is None else self.ndim
        kinds = {0: (8, 16, 32, 64), 1: (8, 16, 32, 64), 2: (16, 32, 64), 4: (16,), 5: (64, 128), 6: (8,)}
        if self.bits not in kinds.get(self.code, ()) or self.lanes != 1 or self.device[0] != capsules.CPU:
            return False
        if not 0 <= ndim <= 16 or (ndim and self.shape is None) or any(n < 0 for n in self.shape or ()):
            return False
        if self.name not in (b"dltensor", b"dltensor_versioned") or 0 in (self.shape or ()):
            return self.name in (b"dltensor", b"dltensor_versioned")
        low, high = self.reach()
        return self.data != 0 and self.data + self.offset + low >= 0 and self.data + self.offset + high <= 2**63

    def steps(self):
        if self.strides is not None:
            return self.strides
        return [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]

    def reach(self):
        """Bytes from the first element to the lowest, and to the end of the highest."""
        size = self.bits // 8
        ends = [
            (n - 1) * step * size for n, step in zip(self.shape or (), self.steps() if self.shape else (), strict=True)
        ]
        return sum(e for e in ends if e < 0), sum(e for e in ends if e > 0) + size

    def expected(self):
        """NumPy's array over the same memory; None where it lies elsewhere, which nobody may read."""
        shape = self.shape or []
        if 0 in shape or math.prod(shape) > MEMORY:  # (a stride of 0 makes much of little)
            return None
        first = self.data + self.offset - self.memory.ctypes.data
        low, high = self.reach()
        if first + low < 0 or first + high > MEMORY:
            return None
        size = self.bits // 8
        raw = np.dtype((np.void, size))
        steps = [step * size for step in self.steps()] if shape else []
        return np.ndarray(tuple(shape), raw, self.memory.data, first, tuple(steps))


def lie_shape(x):
    if x.shape:
        x.shape[x.draw.randrange(len(x.shape))] = x.draw.choice(WILD)


def lie_axes(x):
    x.shape = [x.draw.choice((1, 1, 2, *WILD)) for _ in range(x.draw.choice((1, 2, 16, 17, 40)))]
    x.strides = None if x.draw.random() < 0.3 else [x.draw.choice((0, 1, *WILD)) for _ in x.shape]


def lie_strides(x):
    if x.strides:
        x.strides[x.draw.randrange(len(x.strides))] = x.draw.choice(WILD)


def lie_ndim(x):
    x.ndim = x.draw.choice((-1, -(2**31), 17, 2**31 - 1, *range(len(x.shape or ()) + 1)))
    if 0 <= x.ndim <= len(x.shape or ()):
        x.shape, x.strides = (x.shape or [])[: x.ndim], x.strides and x.strides[: x.ndim]


def lie_type(x):
    x.code, x.bits, x.lanes = x.draw.randrange(256), x.draw.choice((0, 1, 4, 8, 16, 24, 32, 64, 128, 255)), 1


def lie_lanes(x):
    x.lanes = x.draw.choice((0, 2, 4, 65535))


def lie_device(x):
    x.device = (x.draw.choice((0, 2, 3, 4, 13, -1, 2**31 - 1, -(2**31))), x.draw.choice((0, 1, -1, 2**31 - 1)))


def lie_place(x):
    x.place = x.draw.choice(
        [
            (1,),
            (1, 0, 0),
            None,
            "10",
            b"10",
            1,
            ("1", "0"),
            (2, 0),
            (2**70, 0),
            (1, 2**70),
            (1.5, 0),
            (None, None),
            [1, 0],
        ]
    )


def lie_answer(x):
    x.answer = x.draw.choice(
        [0, "capsule", b"", object(), [], TypeError("other words"), ValueError("no"), BufferError("no"), x.managed]
    )


def lie_version(x):
    x.major, x.minor = x.draw.choice((0, 2, 3, 2**32 - 1)), x.draw.choice((0, 1, 2**32 - 1))


def lie_flags(x):
    x.flags = x.draw.getrandbits(64)


def lie_data(x):
    x.data = x.draw.choice((0, 0, 1, 8, 4096, 2**47, 2**63 - 64, 2**63, 2**64 - 64, 2**64 - 1))


def lie_offset(x):
    x.offset = x.draw.choice((1, 3, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 1))


def lie_null_shape(x):
    x.ndim = x.draw.choice((1, 2, 16))
    x.shape = None
    x.strides = x.draw.choice((None, [1] * 16))


def lie_name(x):
    x.name = x.draw.choice((b"", b"dltensor", b"dltensor_version", b"used_dltensor", b"\xff\xfe", b"x" * 500))
    if x.name == b"dltensor" and x.versioned:
        x.name = b"used_dltensor_versioned"


LIES = {name[4:]: function for name, function in list(globals().items()) if name.startswith("lie_")}


def use(d, liar):
    """What was taken is read and written where its memory is really there."""
    expected = liar.expected()
    assert d.shape == tuple(liar.shape or ()), (d.shape, liar.shape)
    if expected is None:
        return
    if d._view.dtype == "bfloat16":
        bits = np.empty(d.shape, np.uint16)
        d._native.download((bits, "bfloat16"), d._view, 0)
        assert bits.tobytes() == expected.tobytes()
        return
    assert d.get().tobytes() == expected.tobytes() or d.dtype == bool
    if d.shape:
        assert d[0].copy().get().tobytes() == expected[0].tobytes() or d.dtype == bool
    if not d.read_only and 0 not in (liar.strides or (1,)):
        d.fill(1)
        assert (d.get() == 1).all()


def one(number, seed, memory):
    """The outcome of a capsule in a word; an AssertionError for what should not be."""
    draw = random.Random(f"{seed} {number}")
    memory[:] = np.frombuffer(draw.randbytes(MEMORY), np.uint8)
    liar = Liar(draw, memory)
    try:
        d = ck.from_dlpack(liar)
    except REFUSALS as error:
        assert not liar.must_be_taken(), f"refused: {error}"
        assert len(str(error)) > 10 or error is liar.answer, f"without words: {error!r}"
        assert liar.deleted <= 1
        refused = True
    else:
        assert liar.is_sane(), "taken"
        use(d, liar)
        refused = False
        assert liar.deleted == 0
        del d
        ck.synchronize()
    if not refused and liar.has_deleter:
        assert liar.deleted == 1, f"the deleter was called {liar.deleted} times"
    taken_away = liar.deleted
    liar.capsule = None
    named = liar.name in (b"dltensor", b"dltensor_versioned")
    assert liar.deleted == (1 if liar.has_deleter and named else taken_away), "who deletes it?"
    return "refused" if refused else "taken"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--count", type=int, help="capsules, however long they take")
    parser.add_argument("--only", type=int, help="this capsule alone")
    options = parser.parse_args()
    faulthandler.enable()
    print(f"seed {options.seed}", flush=True)
    memory, counts, end = np.zeros(MEMORY, np.uint8), {"refused": 0, "taken": 0}, time.monotonic() + options.seconds
    with ck.use_backend("emulator"):
        for number in itertools.count() if options.only is None else (options.only,):
            if number == options.count or (options.count is None and time.monotonic() > end):
                break
            if number % 10_000 == 0:
                print(f"from capsule {number}", flush=True)  # a crash says no more
            try:
                counts[one(number, options.seed, memory)] += 1
            except BaseException:
                print(f"capsule {number}: --seed {options.seed} --only {number}", flush=True)
                traceback.print_exc()
                os._exit(1)  # at once: deleters that are left would be called when they are no more
            if number % 1000 == 0:
                gc.collect()
        assert ck.sum_of_squares(np.arange(10.0), variant="coalesced") == 285
    total = sum(counts.values())
    print(f"{total:,} capsules of seed {options.seed}: {counts['taken']:,} taken, {counts['refused']:,} refused")


main()
