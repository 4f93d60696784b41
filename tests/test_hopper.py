"""mbarrier, tensor copies (TMA), wgmma and stmatrix on both sides, and the mistakes that the emulator reveals."""

import ctypes

import numpy as np
import pytest

import cuda_api
from cases import ORDERS

INVALID_VALUE, LAUNCH_FAILURE = 1, 719
KINDS = ("float16", "bfloat16")


class MapShape(ctypes.Structure):
    """struct tensor_map_shape of tensor_map.h."""

    _fields_ = [
        ("element_bytes", ctypes.c_int),
        ("axes", ctypes.c_int),
        ("lengths", ctypes.c_uint64 * 5),
        ("strides", ctypes.c_uint64 * 5),
        ("box", ctypes.c_uint32 * 5),
        ("swizzle", ctypes.c_int),
    ]


def five(kind, values):
    return (kind * 5)(*values)


def map_shape(array, box, swizzle=0):
    """For an array in C order; `box` is its extent in the order of NumPy's axes."""
    return MapShape(
        array.itemsize,
        array.ndim,
        five(ctypes.c_uint64, array.shape[::-1]),
        five(ctypes.c_uint64, array.strides[::-1]),
        five(ctypes.c_uint32, box[::-1]),
        swizzle,
    )


def swizzled(rows, swizzle):
    """The bytes of a box as they are in shared memory: bits of the address from 4 on XORed with as many from 7 on."""
    flat = np.ascontiguousarray(rows).view(np.uint8).ravel()
    address = np.arange(flat.size)
    if swizzle:
        address ^= (address >> 7 & swizzle // 16 - 1) << 4
    return flat[address]


@pytest.fixture
def library(side):
    return cuda_api.load(side, "hopper")


@pytest.fixture
def emulated():
    return cuda_api.load("emulator", "hopper")


BOXES = [  # type, array, box, swizzle, where the box begins
    ("float32", (9, 20), (4, 8), 0, (0, 0)),
    ("uint8", (40, 272), (7, 256), 0, (3, 5)),
    ("float16", (256, 64), (256, 64), 128, (0, 0)),
    ("float16", (100, 72), (64, 64), 128, (60, 40)),
    ("float16", (100, 72), (16, 64), 128, (-5, -9)),
    ("float32", (33, 44), (20, 16), 64, (-3, 30)),
    ("uint64", (33, 44), (24, 4), 32, (20, 41)),
    ("float64", (50, 16), (32, 16), 128, (30, 1)),
    ("int32", (5, 6, 8), (2, 3, 4), 0, (4, 5, -2)),
    ("float16", (3, 30, 64), (2, 8, 64), 128, (2, 27, 3)),
    ("float16", (2, 3, 4, 32), (2, 2, 3, 32), 64, (-1, 2, 3, 0)),
    ("uint8", (2, 3, 2, 3, 48), (1, 2, 2, 2, 32), 32, (1, 1, -1, 2, 30)),
    ("float32", (2, 3, 2, 3, 8), (2, 2, 2, 2, 4), 0, (5, 5, 5, 5, 5)),
]


def cut(array, box, at):
    """The box of the array, zeros outside."""
    result = np.zeros(box, array.dtype)
    inside = [np.arange(n) + start for n, start in zip(box, at, strict=True)]
    valid = [(i >= 0) & (i < n) for i, n in zip(inside, array.shape, strict=True)]
    result[np.ix_(*valid)] = array[np.ix_(*(i[v] for i, v in zip(inside, valid, strict=True)))]
    return result


def random_array(dtype, shape):
    bits = (
        np.random.default_rng().integers(1, 255, (*shape[:-1], shape[-1] * np.dtype(dtype).itemsize)).astype(np.uint8)
    )
    return bits.view(np.dtype(f"u{np.dtype(dtype).itemsize}"))


def copy(library, what, array, box, swizzle, at, data):
    size = int(np.prod(box)) * array.dtype.itemsize
    library.launch(
        "run_copy",
        array,
        ctypes.byref(map_shape(np.empty(array.shape, array.dtype), box, swizzle)),
        ctypes.byref(five(ctypes.c_int, at[::-1])),
        size,
        data,
        what,
        block=64,
        shared=size + 1024,
    )


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("dtype, shape, box, swizzle, at", BOXES)
def test_a_box_is_loaded(library, order, order_name, dtype, shape, box, swizzle, at):
    order(order_name)
    array = random_array(dtype, shape)
    expected = swizzled(cut(array, box, at), swizzle)
    out = library.buffer(np.zeros_like(expected))
    copy(library, 0, library.buffer(array), box, swizzle, at, out)
    np.testing.assert_array_equal(out.get(), expected)


# --- products ---------------------------------------------------------------------------------------------------------
def bits_of(x, kind):
    x = x.astype(np.float32)
    return x.astype(np.float16).view(np.uint16) if kind == "float16" else (x.view(np.uint32) >> 16).astype(np.uint16)


def product(library, kind, a, b, sums, layout=0, add=1):
    """sums + a @ b with operands as bits: 64 x depth, depth x N."""
    columns, depth = b.shape[1], len(b)
    left = np.ascontiguousarray(a.T if layout & 1 else a)
    right = np.ascontiguousarray(b if layout & 2 else b.T)
    out = library.buffer(sums)
    library.launch(
        f"run_product_{kind}_{columns}",
        library.buffer(left),
        library.buffer(right),
        depth,
        add,
        out,
        layout,
        block=128,
        shared=(64 + columns) * 128 + 1024,
    )
    return out.get()


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("depth", [64, 192])
@pytest.mark.parametrize("layout", range(4))
@pytest.mark.parametrize("columns", [64, 128, 256])
@pytest.mark.parametrize("kind", KINDS)
def test_products(library, order, order_name, kind, columns, layout, depth):
    """Small integers: sums are exact."""
    order(order_name)
    draw = np.random.default_rng()
    a, b = draw.integers(-9, 9, (64, depth)), draw.integers(-9, 9, (depth, columns))
    before = draw.integers(-99, 99, (64, columns)).astype(np.float32)
    for add in (0, 1):
        result = product(library, kind, bits_of(a, kind), bits_of(b, kind), before, layout, add)
        np.testing.assert_array_equal(result, add * before + a @ b)
