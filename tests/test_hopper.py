"""mbarrier, tensor copies (TMA), wgmma and stmatrix on both sides, and the mistakes that the emulator reveals."""

import ctypes

import numpy as np
import pytest

import cuda_api
from cases import ORDERS
from test_tensor_core import RECORDED

INVALID_VALUE, LAUNCH_FAILURE = 1, 719
KINDS = ("float16", "bfloat16", "tf32", "int8")
LAYOUTS = [(kind, layout) for kind in KINDS for layout in range(4 if kind.endswith("float16") else 1)]
PRODUCTS = [(kind, layout, columns) for kind, layout in LAYOUTS for columns in (64, 128, 256)]
HALVES = [("float16", columns) for columns in (80, 192)] + [("bfloat16", columns) for columns in (32, 40, 56, 80, 112)]
PRODUCTS += [(kind, layout, columns) for kind, columns in HALVES for layout in range(4)]
PRODUCTS += [("float16", 0, 208), ("bfloat16", 0, 208), ("tf32", 0, 208), ("int8", 0, 112)]


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


def swizzle_bytes(rows, swizzle):
    """The bytes of a box as they are in shared memory: bits of the address from 4 on XORed with as many from 7 on."""
    flat = np.ascontiguousarray(rows).view(np.uint8).ravel()
    address = np.arange(flat.size)
    if swizzle:
        address ^= (address >> 7 & swizzle // 16 - 1) << 4
    return flat[address]


@pytest.fixture
def library(side):
    library = cuda_api.load(side, "hopper")
    capability = [library.value("api_attribute", ctypes.c_int, number, 0) for number in (75, 76)]
    if capability != [9, 0]:  # wgmma is in these chips alone
        pytest.skip(f"compute capability {capability[0]}.{capability[1]}")
    return library


@pytest.fixture
def emulated():
    return cuda_api.load("emulator", "hopper_mistakes")


BOXES = [  # type, array, box, swizzle, where the box begins (along the last axis at a multiple of 16 bytes)
    ("float32", (9, 20), (4, 8), 0, (0, 0)),
    ("uint8", (40, 272), (7, 256), 0, (3, 16)),
    ("float16", (256, 64), (256, 64), 128, (0, 0)),
    ("float16", (100, 72), (64, 64), 128, (60, 40)),
    ("float16", (100, 72), (16, 64), 128, (-5, 8)),
    ("float32", (33, 44), (20, 16), 64, (-3, 28)),
    ("uint64", (33, 44), (24, 4), 32, (20, 42)),
    ("float64", (50, 16), (32, 16), 128, (30, 2)),
    ("int32", (5, 6, 8), (2, 3, 4), 0, (4, 5, 4)),
    ("float16", (3, 30, 64), (2, 8, 64), 128, (2, 27, 8)),
    ("float16", (2, 3, 4, 32), (2, 2, 3, 32), 64, (-1, 2, 3, 0)),
    ("uint8", (2, 3, 2, 3, 48), (1, 2, 2, 2, 32), 32, (1, 1, -1, 2, 32)),
    ("float32", (2, 3, 2, 3, 8), (2, 2, 2, 2, 4), 0, (5, 5, 5, 5, 4)),
]


def overlap(shape, box, at):
    """Indices of the elements that the box and the array share: in the array, and in the box."""
    shared = [
        np.arange(max(0, -start), max(0, min(n, size - start))) for n, size, start in zip(box, shape, at, strict=True)
    ]
    return np.ix_(*(i + start for i, start in zip(shared, at, strict=True))), np.ix_(*shared)


def cut(array, box, at):
    """The box of the array, zeros outside."""
    result = np.zeros(box, array.dtype)
    in_array, in_box = overlap(array.shape, box, at)
    result[in_box] = array[in_array]
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
    expected = swizzle_bytes(cut(array, box, at), swizzle)
    out = library.buffer(np.zeros_like(expected))
    copy(library, 0, library.buffer(array), box, swizzle, at, out)
    np.testing.assert_array_equal(out.get(), expected)


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("what", [1, 2])
@pytest.mark.parametrize("dtype, shape, box, swizzle, at", BOXES)
def test_a_box_is_stored(library, order, order_name, dtype, shape, box, swizzle, at, what):
    """What is outside of the array is left out, and nothing else changes."""
    at = tuple(max(0, start) for start in at)  # a store may not begin before the array
    order(order_name)
    before, new = random_array(dtype, shape), random_array(dtype, box)
    out = library.buffer(before)
    copy(library, what, out, box, swizzle, at, library.buffer(swizzle_bytes(new, swizzle)))
    expected = before.copy()
    in_array, in_box = overlap(shape, box, at)
    expected[in_array] = new[in_box]
    np.testing.assert_array_equal(out.get(), expected)


@pytest.mark.parametrize("order_name", ORDERS)
def test_stores_in_groups(library, order, order_name):
    order(order_name)
    out = library.buffer(np.zeros(8 * 32 + 1, np.int32))
    library.launch("run_two_stores", out, block=64, shared=2048)
    expected = 100 * np.arange(4)[:, None] + np.arange(64)
    np.testing.assert_array_equal(out.get(), [*expected.ravel(), 1])


@pytest.mark.parametrize(
    "change, valid",
    [
        ({}, True),
        ({"swizzle": 64}, True),
        ({"swizzle": 32}, False),  # narrower than the box
        ({"address": 8}, False),
        ({"lengths": (0, 30)}, False),
        ({"lengths": (2**32, 30)}, True),
        ({"lengths": (2**32 + 1, 30)}, False),
        ({"strides": (0, 200)}, False),
        ({"strides": (0, 2**40)}, False),
        ({"strides": (0, 2**40 - 16)}, True),
        ({"box": (0, 8)}, False),
        ({"box": (7, 8)}, False),  # not a multiple of 16 bytes
        ({"box": (16, 257)}, False),
        ({"box": (16, 256)}, True),
        ({"axes": 0}, False),
        ({"axes": 6}, False),
    ],
)
def test_shapes_of_maps(library, change, valid):
    shape = map_shape(np.zeros((30, 48), np.float32), (8, 16), 0)
    memory = library.buffer(np.zeros(64, np.uint8))
    address = memory.address.value + change.get("address", 0)
    for name, value in change.items():
        if isinstance(value, tuple):
            getattr(shape, name)[: len(value)] = value
        elif name != "address":
            setattr(shape, name, value)
    assert library.code("make_map", ctypes.c_void_p(address), ctypes.byref(shape)) == (0 if valid else INVALID_VALUE)


# --- products ---------------------------------------------------------------------------------------------------------
def bits_of(x, kind):
    """As the kernels read them."""
    if kind in ("tf32", "int8"):
        return x.astype(np.float32 if kind == "tf32" else np.int8)
    x = x.astype(np.float32)
    return x.astype(np.float16).view(np.uint16) if kind == "float16" else (x.view(np.uint32) >> 16).astype(np.uint16)


def product(library, kind, a, b, sums, layout=0, add=1, name="product"):
    """sums + a @ b with operands as bits: 64 x depth, depth x N."""
    columns, depth = b.shape[1], len(b)
    left = np.ascontiguousarray(a.T if layout & 1 else a)
    right = np.ascontiguousarray(b if layout & 2 else b.T)
    out = library.buffer(sums)
    library.launch(
        f"run_{name}_{kind}_{columns}",
        library.buffer(left),
        library.buffer(right),
        depth,
        add,
        out,
        layout,
        block=128,
        shared=(64 + -(-columns // 64) * 64) * 128 + 1024,
    )
    return out.get()


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("depth", [64, 192])
@pytest.mark.parametrize("kind, layout, columns", PRODUCTS)
def test_products(library, order, order_name, kind, columns, layout, depth):
    """Small integers: sums are exact. (The depth is no multiple of 128 bytes for each type: TMA adds zeros.)"""
    order(order_name)
    draw = np.random.default_rng()
    a, b = draw.integers(-9, 9, (64, depth)), draw.integers(-9, 9, (depth, columns))
    before = draw.integers(-99, 99, (64, columns)).astype(np.int32 if kind == "int8" else np.float32)
    for add in (0, 1):
        result = product(library, kind, bits_of(a, kind), bits_of(b, kind), before, layout, add)
        np.testing.assert_array_equal(result, add * before + a @ b)


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("layout", [0, 2])
@pytest.mark.parametrize(
    "kind, columns", [("float16", 64), ("float16", 128), ("float16", 256), ("bfloat16", 64), ("bfloat16", 256)]
)
def test_products_of_registers(library, order, order_name, kind, columns, layout):
    """A in registers gives the bits that A in shared memory gives."""
    order(order_name)
    draw = np.random.default_rng()
    a, b = bits_of(draw.normal(size=(64, 128)), kind), bits_of(draw.normal(size=(128, columns)), kind)
    before = draw.normal(size=(64, columns)).astype(np.float32)
    for add in (0, 1):
        result = product(library, kind, a, b, before, layout, add, "registers")
        np.testing.assert_array_equal(result, product(library, kind, a, b, before, layout, add))


def test_integers_wrap(library):
    """Sums of int8 are exact modulo 2^32, also those of the largest products."""
    draw = np.random.default_rng()
    a, b = draw.integers(-128, 128, (64, 256)), draw.integers(-128, 128, (256, 128))
    a[:9], b[:, :9] = -128, -128
    before = draw.integers(-(2**31), 2**31, (64, 128))
    before[:9] = 2**31 - 1
    result = product(library, "int8", bits_of(a, "int8"), bits_of(b, "int8"), before.astype(np.int32))
    np.testing.assert_array_equal(result, (before + a @ b).astype(np.int32))


def test_tf32_ignores_low_bits(library):
    """11 significant bits of each element count, and the sums are as exact as sums of floats."""
    draw = np.random.default_rng()
    a, b = draw.normal(size=(64, 96)).astype(np.float32), draw.normal(size=(96, 64)).astype(np.float32)
    cut_a, cut_b = ((x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (a, b))
    sums = np.zeros((64, 64), np.float32)
    result = product(library, "tf32", a, b, sums)
    np.testing.assert_array_equal(result, product(library, "tf32", cut_a, cut_b, sums))
    wide_a, wide_b = cut_a.astype(np.float64), cut_b.astype(np.float64)
    assert np.all(np.abs(result - wide_a @ wide_b) <= 12 * 2.0**-22 * (np.abs(wide_a) @ np.abs(wide_b)))


def test_tf32_of_nan(library):
    """A quiet NaN stays one. Of a signaling NaN whose payload is in the bits that do not count, an infinity remains."""
    a, b = np.ones((64, 32), np.float32), np.ones((32, 64), np.float32)
    words = a.view(np.uint32)
    words[0, 3], words[1, 5], words[2, 7], words[3, 9] = 0x7FC00000, 0x7F802000, 0x7F801FFF, 0xFF800001
    result = product(library, "tf32", a, b, np.zeros((64, 64), np.float32))
    expected = np.full(64, 32, np.float32)
    expected[:4] = np.nan, np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(result, np.broadcast_to(expected[:, None], (64, 64)))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_operands_with_another_swizzle_than_the_descriptors(library, swizzle):
    """The product is that of the bytes where a swizzle of 128 bytes looks for them."""
    a, b = np.random.default_rng().integers(-9, 9, (2, 64, 64)).astype(np.float16)
    out = library.buffer(np.zeros((64, 64), np.float32))
    library.launch(
        "run_mismatched",
        library.buffer(a),
        library.buffer(b),
        (swizzle or 128) // 2,
        swizzle,
        out,
        block=128,
        shared=2 * 8192 + 1024,
    )
    left, right = (swizzle_bytes(swizzle_bytes(x, swizzle), 128).view(np.float16).reshape(64, 64) for x in (a, b))
    np.testing.assert_array_equal(out.get(), left.astype(np.float32) @ right.astype(np.float32).T)
    assert np.array_equal(left, a) == (swizzle == 128)


def four_products(library, kind, a, b, before):
    """Four products of 16 x K by K x 8 in the rows and columns of one of 64 x 64 x K, next to zeros."""
    depth = a.shape[2]
    left, right = np.zeros((64, 64), a.dtype), np.zeros((64, 64), a.dtype)
    sums = np.zeros((64, 64), np.float32)
    left[:, :depth] = a.reshape(64, depth)
    right[:depth, :32] = b.transpose(1, 0, 2).reshape(depth, 32)
    places = [(slice(16 * i, 16 * i + 16), slice(8 * i, 8 * i + 8)) for i in range(4)]
    for place, sum_before in zip(places, before, strict=True):
        sums[place] = sum_before
    result = product(library, kind, left, right, sums)
    return np.array([result[place] for place in places])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "int8"])
def test_recorded_sums_bit_by_bit(library, kind):
    a, b, before, after = (RECORDED[f"{kind}_{part}"] for part in ("a", "b", "before", "after"))
    for i in range(0, len(a), 4):
        result = four_products(library, kind, a[i : i + 4], b[i : i + 4], before[i : i + 4])
        np.testing.assert_array_equal(result.view(np.uint32), after[i : i + 4].view(np.uint32))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "int8"])
@pytest.mark.parametrize("spread", [0, 6, 40, 70, 124, "special"])
def test_sums_are_rounded_as_by_mma_sync(library, side, kind, spread):
    draw = np.random.default_rng()
    special = spread == "special"
    depth = 8 if kind == "tf32" else 16
    wide = 0 if special else min(spread, 6) if kind == "float16" else spread  # half precision has a small range

    def numbers(*shape):
        x = draw.normal(size=shape) * 2.0 ** draw.integers(-wide, wide + 1, shape)
        x[draw.random(shape) < 0.1] = 0
        if special:
            for value in (np.nan, np.inf, -np.inf, 1e-7 if kind == "float16" else 1e-40):
                x[draw.random(shape) < 0.01] = value
        return bits_of(x, kind)

    a, b = numbers(4, 16, depth), numbers(4, depth, 8)
    before = (draw.normal(size=(4, 16, 8)) * 2.0 ** draw.integers(-wide, wide + 1, (4, 16, 8))).astype(np.float32)
    other = cuda_api.load(side, "tensor_core")
    expected = other.buffer(before)
    other.launch(f"run_products_{kind}", other.buffer(a), other.buffer(b), expected, grid=4, block=32)
    result = four_products(library, kind, a, b, before)
    np.testing.assert_array_equal(result.view(np.uint32), expected.get().view(np.uint32))


@pytest.mark.parametrize("order_name", ORDERS)
def test_groups_of_products(library, order, order_name):
    order(order_name)
    out = library.buffer(np.zeros((3, 32, 128), np.float32))
    library.launch("run_groups", out, block=128, shared=2 * 8192 + 1024)
    np.testing.assert_array_equal(out.get(), np.broadcast_to([[[16]], [[32]], [[48]]], (3, 32, 128)))


# --- the rest ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order_name", ORDERS)
def test_stmatrix(library, order, order_name):
    order(order_name)
    tiles = np.random.default_rng().integers(0, 2**16, (3, 4, 8, 8)).astype(np.uint16)
    words = tiles.view(np.uint32).reshape(3, 4, 32)
    out = library.buffer(np.zeros_like(words))
    library.launch("run_store_matrices", library.buffer(words), out, grid=3, block=32)
    np.testing.assert_array_equal(out.get(), words)


@pytest.mark.parametrize("order_name", ORDERS)
def test_one_lane_is_elected(library, order, order_name):
    """Each time the same, and one of the mask: blocks of two warps, with one mask per block."""
    order(order_name)
    masks = np.array([0xFFFFFFFF, 0x0000FFFF, 0xAAAAAAAA, 0x0F0F00F0, 1 << 31, 0xFFFFFFFE], np.uint32)
    out = library.buffer(np.zeros((len(masks), 2, 32, 3), np.int32))
    library.launch("run_elections", library.buffer(masks), out, grid=len(masks), block=64)
    elected = out.get()
    np.testing.assert_array_equal(elected, elected[:, :1, :, :1].repeat(2, 1).repeat(3, 3))
    np.testing.assert_array_equal(elected.sum(2), 1)


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("tiles", [0, 1, 3, 4, 20])
def test_pipeline(library, order, order_name, tiles):
    order(order_name)
    data = np.random.default_rng().integers(-99, 99, (max(tiles, 1), 256)).astype(np.float32)
    out = library.buffer(np.zeros(256, np.float32))
    library.launch("run_pipeline", library.buffer(data), tiles, out, block=384, shared=4096, grid=2)
    sums = data[:tiles].sum(0)
    np.testing.assert_array_equal(out.get(), sums + 2 * sums[::-1])


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("entry", ["run_turns", "run_turns_of_parts"])
def test_turns(library, order, order_name, entry):
    order(order_name)
    out = library.buffer(np.zeros(20, np.int32))
    library.launch(entry, out, block=128, grid=3)  # an arrival that is left concerns no other block
    np.testing.assert_array_equal(out.get(), np.arange(20))


@pytest.mark.parametrize("order_name", ORDERS)
def test_attempts_do_not_hold_up_a_copy_or_a_product(library, order, order_name):
    order(order_name)
    out = library.buffer(np.arange(1, 258, dtype=np.int32))
    library.launch("run_attempts", out, block=64, shared=2048)
    assert out.get()[256] == 256
    result = library.buffer(np.zeros(1, np.int32))
    library.launch("run_attempts_at_a_product", result, block=256, shared=2 * 8192 + 1024)
    assert result.get()[0] == 64


# --- mistakes ---------------------------------------------------------------------------------------------------------
RULES = {
    "never_initialized": (64, "not initialized.*mbarrier_init"),
    "no_arrivals": (1, "1 to 1048575 arrivals, not 0"),
    "overwritten_barrier": (1, "overwritten"),
    "too_many_arrivals": (1, "more arrivals.*all 2 .*64 bytes"),
    "misaligned_barrier": (1, "multiple of 8"),
    "lacks_an_arrival": (64, "parity 0 .*lacks 1 of 65 arrivals and 0 bytes"),
    "lacks_bytes": (64, r"lacks 0 of 1 arrivals and 512 bytes; 63 of 64 threads wait at __syncthreads\(\), .*\.cu"),
    "too_many_bytes": (1, "lacks 0 of 1 arrivals and 0 bytes .*more bytes than expected"),
    "half_at_the_barrier": (64, "lacks 32 of 64 arrivals"),
    "misaligned_box": (1, "swizzle of 128 bytes .*multiple of 1024"),
    "box_beyond_the_end": (1, "4096 bytes begins at byte 14336 .*beyond its 17408 bytes"),
    "misaligned_store": (1, "swizzle of 128 bytes .*multiple of 1024"),
    "misaligned_coordinate": (1, "axis 0 must be a multiple of 16 bytes; 2 elements are 8 bytes"),
    "store_before_the_array": (1, "axis 1 must not be negative, but is -1"),
    "other_axes": (1, "3 coordinates .*2 axes"),
    "half_a_warp": (128, "mask|32 lanes"),
    "other_operands": (128, "same operands"),
    "misaligned_operand": (1, "wgmma_descriptor requires .*multiples of 16 bytes"),
    "misaligned_next_operand": (1, "wgmma_descriptor_after requires a multiple of 16 bytes"),
    "incomplete_warpgroup": (96, "warpgroups of 128 threads.*96"),
    "part_of_other_size": (96, "same number"),
    "part_that_never_comes": (160, r"sync_threads_of\(5, 64\) .*32 of 64"),
    "arrivals_that_are_too_few": (96, r"sync_threads_of\(5, 96\) .*64 of 96"),
    "arrivals_of_half_warps": (96, r"all lanes of a warp .*16 lanes of warp"),
    "arrivals_of_half_a_warp": (64, r"all lanes of a warp .*16 lanes of warp 1"),
    "arrival_of_other_size": (96, r"same number.*arrive_threads_of\(5, \d\d\)"),
    "part_with_wrong_number": (64, "1 to 15, not 16"),
    "part_of_a_warp": (64, "multiple of 32"),
    "part_of_half_warps": (64, "all lanes of a warp"),
    "prefetch_of_no_map": (1, "tensor_prefetch: .*not one that tensor_map_make"),
    "store_without_wait": (64, "ends before this tensor_store .*tensor_store_wait"),
    "one_store_without_wait": (64, "ends before this tensor_store"),
    "product_without_wgmma_fence": (128, "only after wgmma_fence"),
    "registers_that_never_come": (384, "get_registers<232> waits forever.*have 168 registers.*only"),
    "registers_of_three_warps": (384, "all four warps .*1 times, warp 3 0 times"),
    "other_registers": (384, "same number of registers"),
    "gives_up_more_than_it_has": (384, "give_up_registers<48>: .*have fewer registers, 40"),
    "registers_of_half_warps": (
        128,
        "calls give_up_registers, .*calls get_registers|calls get_registers, .*calls give_up",
    ),
}


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("kernel", RULES)
def test_a_broken_rule_is_named(emulated, order, order_name, kernel):
    """With its line; afterwards the next block works."""
    order(order_name)
    threads, words = RULES[kernel]
    out = emulated.buffer(np.ones((64, 64), np.float32))
    with pytest.raises(
        cuda_api.CudaFailure, match=rf"kernel {kernel}, .*hopper_mistakes\.cu:\d+, .*({words})"
    ) as caught:
        emulated.launch(f"run_{kernel}", out, block=threads, shared=2 * 8192 + 1024)
    line = int(caught.value.detail.split("hopper_mistakes.cu:")[1].split(",")[0])
    assert line in emulated.lines(kernel)
    assert caught.value.code == LAUNCH_FAILURE
    test_pipeline(cuda_api.load("emulator", "hopper"), order, order_name, 4)


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("kernel", ["product_without_wait", "product_without_commit"])
def test_a_missing_wait_gives_nan(emulated, order, order_name, kernel):
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch(f"run_{kernel}", out, block=128, shared=2 * 8192 + 1024)
    assert np.isnan(out.get()).all()


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("kernel, count", [("store_without_fence", 1024), ("product_without_fence", 4096)])
def test_a_missing_fence_gives_nan(emulated, order, order_name, kernel, count):
    """Asynchronous operations do not see what threads have written without fence_async_proxy."""
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch(f"run_{kernel}", out, block=128, shared=2 * 8192 + 1024)
    assert np.isnan(out.get()).sum() == count


@pytest.mark.parametrize("order_name", ORDERS)
def test_a_load_that_only_one_thread_waits_for(emulated, order, order_name):
    """It lands when nothing else can go on, so the other threads see NaN."""
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch("run_load_without_wait", out, block=128, shared=4096 + 1024)
    values = out.get().ravel()[2048:3072].reshape(8, 128)
    assert np.isnan(values[:, 1:]).all()
    assert (values[:, 0] == 1).all()


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize(
    "kernel, threads",
    [("operands_replaced", 128), ("operands_replaced_without_fence", 128), ("freed_too_early", 256)],
)
def test_operands_that_are_replaced_before_the_wait(emulated, order, order_name, kernel, threads):
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch(f"run_{kernel}", out, block=threads, shared=2 * 8192 + 1024)
    assert np.isnan(out.get()).all()


@pytest.mark.parametrize("order_name", ORDERS)
def test_a_wait_leaves_the_latest_group_of_products(emulated, order, order_name):
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch("run_later_group", out, block=128, shared=2 * 8192 + 1024)
    assert (out.get()[:32] == 64).all()
    assert np.isnan(out.get()[32:]).all()


@pytest.mark.parametrize("order_name", ORDERS)
def test_boxes_that_are_replaced_before_they_have_been_read(emulated, order, order_name):
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch("run_store_replaced", out, block=128, shared=2 * 4096 + 1024)
    assert (out.get()[:32, :32] == 2).all()  # a wait for this group
    assert np.isnan(out.get()[:32, 32:]).all()
    emulated.launch("run_store_replaced_by_others", out, block=128, shared=2 * 4096 + 1024)
    assert (out.get()[:32] != 2).mean() > 0.9


@pytest.mark.parametrize("order_name", ORDERS)
def test_an_array_is_written_in_the_wait_for_it(emulated, order, order_name):
    order(order_name)
    out = emulated.buffer(np.ones((64, 64), np.float32))
    emulated.launch("run_array_read_too_early", out, block=128, shared=2 * 4096 + 1024)
    assert out.get().ravel()[4093:].tolist() == [20, 11, 20]  # the first box; neither, and then not the second; both
    assert (out.get()[:32] == 2).all()
