"""Arrays and textures, on both sides: the rules of filter and edges.

Weights are 256ths, so with small integers every sum is exact: there both sides are held to the same bits, elsewhere to
a bound. The emulator is held to an H200's bits everywhere, by answers that were recorded (data/).
"""

import ctypes
import gc
import json
import pathlib

import numpy as np
import pytest

import cuda_api
from cuda_api import ON_DEVICE, TO_DEVICE, TO_HOST

size = ctypes.c_size_t
ARRAY, LINEAR_MEMORY, PITCHED = 0, 2, 3
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
SIGNED, UNSIGNED, FLOAT = 0, 1, 2
TYPES = {  # of textures.cu: number, element, channels, kind
    "float": (0, np.float32, 1, FLOAT),
    "float2": (1, np.float32, 2, FLOAT),
    "float4": (2, np.float32, 4, FLOAT),
    "int": (3, np.int32, 1, SIGNED),
    "uchar": (4, np.uint8, 1, UNSIGNED),
    "uchar4": (5, np.uint8, 4, UNSIGNED),
    "short2": (6, np.int16, 2, SIGNED),
}
ONLY_AS_FLOATS = {  # read as one of these alone
    "char4": (None, np.int8, 4, SIGNED),
    "ushort2": (None, np.uint16, 2, UNSIGNED),
    "half": (None, np.float16, 1, FLOAT),
}
INVALID_VALUE, INVALID_CHANNELS, INVALID_FILTER, INVALID_NORM = 1, 20, 26, 27


class Recipe(ctypes.Structure):
    _fields_ = [
        ("resource", ctypes.c_int),
        ("bits", ctypes.c_int * 4),
        ("kind", ctypes.c_int),
        ("width", size),
        ("height", size),
        ("depth", size),
        ("pitch", size),
        ("address", ctypes.c_int * 3),
        ("linear", ctypes.c_int),
        ("read_normalized", ctypes.c_int),
        ("normalized", ctypes.c_int),
        ("border", ctypes.c_float * 4),
    ]


class Handles(ctypes.Structure):
    _fields_ = [("array", ctypes.c_void_p), ("object", ctypes.c_ulonglong)]


@pytest.fixture
def library(side):
    made = cuda_api.load(side, "textures")
    made.code("api_last_error")
    return made


class Texture:
    """A texture with the values of an array (its last axis: the channels, if the type has several)."""

    def __init__(self, library, values, kind="float", resource=ARRAY, mode="clamp", linear=False, **how):
        _, element, channels, code = (TYPES | ONLY_AS_FLOATS)[kind]
        self.library, self.kind = library, kind
        values = np.ascontiguousarray(values, element)
        shape = values.shape if channels == 1 else values.shape[:-1]
        self.axes = len(shape) if resource == ARRAY else 0 if resource == LINEAR_MEMORY else 2
        sizes = (*shape[::-1], 0, 0)[:3]
        pitch = shape[-1] * channels * element().itemsize
        if resource == PITCHED:  # rows with a distance that textures take
            wide = np.zeros((shape[0], -(-pitch // 32) * 32), np.uint8)
            wide[:, :pitch] = values.reshape(shape[0], -1).view(np.uint8)
            values, pitch = wide, wide.shape[1]
        self.buffer = library.buffer(values)
        bits = [8 * element().itemsize if i < channels else 0 for i in range(4)]
        modes = (mode,) * 3 if isinstance(mode, str) else mode
        recipe = Recipe(
            resource,
            (ctypes.c_int * 4)(*bits),
            code,
            *sizes,
            pitch,
            (ctypes.c_int * 3)(*(MODES[m] for m in modes)),
            linear,
            how.get("as_share", False),
            how.get("normalized", False),
            (ctypes.c_float * 4)(*how.get("border", (0, 0, 0, 0))),
        )
        self.handles = Handles()
        library.check("texture_make", ctypes.byref(self.handles), ctypes.byref(recipe), self.buffer, None)
        library.check("api_stream_synchronize", None)

    def read(self, *coordinates, kind=None, axes=None):
        """Values at the coordinates: x, or x and y, ..."""
        number, element, channels, _ = TYPES[kind or self.kind]
        coordinates = np.broadcast_arrays(*(np.asarray(c, np.float32) for c in coordinates))
        n = coordinates[0].size
        at = np.zeros((n, 3), np.float32)
        for i, c in enumerate(coordinates):
            at[:, i] = c.ravel()
        out = self.library.buffer(np.zeros((n, channels), element))
        axes = self.axes if axes is None else axes
        self.library.launch(
            "run_read",
            ctypes.byref(self.handles),
            number,
            axes,
            self.library.buffer(at),
            n,
            out,
            grid=-(-n // 64),
            block=64,
        )
        result = out.get()
        return result if channels > 1 else result[:, 0]

    def __del__(self):
        if self.handles.object:
            self.library.raw.texture_free(ctypes.byref(self.handles))


# --- the rule, written out -------------------------------------------------------------------------------------------
def places(x, n, mode, linear, normalized):
    """The two elements of an axis that take part, -1 for the border, and the second one's weight in 256ths."""
    x = np.asarray(np.float32(x), np.float64)
    if normalized:
        steps = 2.0**22 if n > 16384 else 2.0**21
        x = np.floor(x * steps) / steps
        x = x * n
    elif mode in ("wrap", "mirror"):  # CUDA's rule: such modes need normalised coordinates
        mode = "clamp"

    def element(i):
        mirrored = np.minimum(i % (2 * n), 2 * n - 1 - i % (2 * n))
        border = np.where((i >= 0) & (i < n), i, -1)
        return {"wrap": i % n, "mirror": mirrored, "border": border, "clamp": np.clip(i, 0, n - 1)}[mode]

    if not linear:
        i = np.floor(x).astype(int)
        return element(i), element(i), np.zeros(x.shape, int)
    x = x - 0.5
    if mode == "clamp":
        x = np.clip(x, 0, n - 1)
    fixed = np.floor(x * 256 + 0.5).astype(int)
    return element(fixed // 256), element(fixed // 256 + 1), fixed % 256


def split(whole, part):
    """`whole` 256ths in two, by `part` of 256: to nearest, halves up; and what is left."""
    taken = np.floor(whole * part / 256 + 0.5).astype(int)
    return taken, whole - taken


def weights(a, b, c):
    """{(z, y, x): weight in 256ths}; `a`, `b`, `c`: the second elements' along x, y and z alone."""
    result = {}
    for z, plane in enumerate((256 - c, c)):
        right, left = split(plane, a)
        result[z, 1, 1], result[z, 0, 1] = split(right, b)
        result[z, 0, 0], result[z, 1, 0] = split(left, 256 - b)
    return result


def expected(values, coordinates, mode="clamp", linear=False, normalized=False, border=0.0):
    """What a texture of these values (no channels) gives before the sum is rounded; coordinates with x first."""
    coordinates = list(np.broadcast_arrays(*(np.atleast_1d(c) for c in coordinates)))
    while len(coordinates) < 3:  # a 1-D array is filtered as a row, read at its edge; elsewhere an axis of one element
        at = 0.0 if len(coordinates) == values.ndim == 1 else 0.5
        coordinates.append(np.full(coordinates[0].shape, at))
    cube = values.reshape((1,) * (3 - values.ndim) + values.shape)
    axes = [
        places(c, n, mode, linear, normalized and i < values.ndim)
        for i, (c, n) in enumerate(zip(coordinates, cube.shape[::-1], strict=True))
    ]
    total = np.zeros(coordinates[0].shape)
    for taps, weight in weights(*(part for _, _, part in axes)).items():
        at = [axis[tap] for axis, tap in zip(axes[::-1], taps, strict=True)]
        inside = np.all([i >= 0 for i in at], axis=0)
        value = np.where(inside, cube[tuple(np.where(inside, i, 0) for i in at)].astype(float), border)
        total += weight / 256 * value
    return total


def expected_share(values, coordinates, **how):
    """The same of integers (the last axis: channels) as shares: a sum of 65535ths (signed: 32767ths), rounded once."""
    channels = [expected(values[..., i], coordinates, linear=True, **how) for i in range(values.shape[-1])]
    total = np.stack(channels, -1)  # whole 256ths
    if values.dtype == np.int8:  # bits repeated below the last, what is beyond an eighth lost before the sum is rounded
        total = sum(np.floor(total * 2048 / 2**repeat) for repeat in (0, 7, 15)) / 8
    elif values.dtype == np.uint8:
        total = total * 257
    one = 32767 if values.dtype.kind == "i" else 65535
    return (np.maximum(np.floor(total + 0.5), -one) / one).astype(np.float32)


def small_integers(shape, seed=0):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(np.float32)


SHAPES = {1: (19,), 2: (7, 12), 3: (3, 5, 6)}


def coordinates_for(shape, step, normalized, seed=1, n=300):
    """Inside and on both sides outside, multiples of `step` of an element; normalised: shapes must make them exact."""
    draw = np.random.default_rng(seed)
    out = []
    for length in shape[::-1]:
        x = np.rint(draw.uniform(-1.4 * length, 2.4 * length, n) / step) * step
        out.append((x / length if normalized else x).astype(np.float32))
    return out


# --- reads -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", SHAPES)
def test_edges_and_filters(library, axes, mode, linear):
    """Weights whose product has 8 bits: the same bits everywhere."""
    values = small_integers(SHAPES[axes])
    at = coordinates_for(values.shape, {1: 1 / 256, 2: 1 / 16, 3: 1 / 4}[axes], False)
    if not linear:  # off the borders between elements
        at = [x + np.float32(1 / 512) for x in at]
    texture = Texture(library, values, mode=mode, linear=linear, border=(7, 0, 0, 0))
    want = expected(values, at, mode, linear, border=7)
    assert np.array_equal(texture.read(*at), want)


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", SHAPES)
def test_normalised_coordinates(library, axes, mode, linear):
    """Lengths that are powers of two make the products exact."""
    values = small_integers({1: (16,), 2: (8, 16), 3: (4, 8, 4)}[axes])
    at = coordinates_for(values.shape, {1: 1 / 64, 2: 1 / 16, 3: 1 / 4}[axes], True)
    if not linear:
        at = [x + np.float32(1 / 512 / 16) for x in at]
    texture = Texture(library, values, mode=mode, linear=linear, normalized=True, border=(-3, 0, 0, 0))
    want = expected(values, at, mode, linear, normalized=True, border=-3)
    assert np.array_equal(texture.read(*at), want)


@pytest.mark.parametrize("axes", SHAPES)
def test_any_coordinate(library, axes):
    """The chip rounds coordinates and sums as it likes, within a weight an axis."""
    values = small_integers(SHAPES[axes])
    at = [x + np.float32(0.001) for x in coordinates_for(values.shape, 1 / 4096, False)]
    for mode in ("clamp", "border"):
        got, want = Texture(library, values, mode=mode, linear=True).read(*at), expected(values, at, mode, True)
        if library.side == "emulator":
            assert np.array_equal(got, want)
        else:
            assert np.max(np.abs(got - want)) <= axes * 100 / 256


def test_a_coordinate_between_two_weights(library):
    """To the nearest 256th, halves up."""
    x = np.random.default_rng(3).uniform(0.5, 15.5, 2000).astype(np.float32)
    x = np.concatenate([x, np.arange(1, 512, 2, dtype=np.float32) / 512 + 2])
    values = np.arange(16, dtype=np.float32) * 256  # a weight's 256th is a step of 1
    got = Texture(library, values, linear=True).read(x)
    assert np.array_equal(got, np.floor(x.astype(float) * 256 + 0.5) - 128)
    assert np.array_equal(got, expected(values, [x], linear=True))


@pytest.mark.parametrize("axes", SHAPES)
def test_any_values_and_coordinates(library, axes):
    """Within half a last place, and 2^-26 of the largest value for what is lost before the sum."""
    draw = np.random.default_rng(6)
    values = draw.normal(size=SHAPES[axes]).astype(np.float32)
    at = [draw.uniform(-0.5, n + 0.5, 3000).astype(np.float32) for n in values.shape[::-1]]
    got = Texture(library, values, linear=True).read(*at)
    want = expected(values, at, linear=True)
    assert (np.abs(got - want) <= 2.0**-24 * np.abs(want) + 2.0**-26 * np.abs(values).max()).all()


NO_NUMBER = np.uint32(0x7FFFFFFF).view(np.float32)  # the only NaN that a filter makes
NO_HALF = np.uint32(0x7FFFE000).view(np.float32)  # and the one of halves
RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "texture_filter_h200.json").read_text())["reads"]


@pytest.mark.parametrize("side", ["emulator"])
@pytest.mark.parametrize("case", RECORDED, ids=[case["name"] for case in RECORDED])
def test_the_bits_of_an_h200(library, case):
    border = case["border"] if isinstance(case["border"], list) else (case["border"], 0, 0, 0)
    how = {"mode": case["mode"], "normalized": case["normalized"], "border": border, "linear": case.get("linear", True)}
    kind = case.get("kind", "float")
    _, element, channels, code = (TYPES | ONLY_AS_FLOATS)[kind]
    texture = Texture(library, np.array(case["values"], element), kind, as_share=code != FLOAT, **how)
    got = texture.read(*case["coordinates"], kind={1: "float", 2: "float2", 4: "float4"}[channels])
    want = np.array(case["results"], np.float32)
    want[np.isnan(want)] = NO_HALF if kind == "half" else NO_NUMBER
    assert got.view(np.uint32).tolist() == want.view(np.uint32).tolist()


@pytest.mark.parametrize("side", ["emulator"])
def test_what_a_sum_loses(library):
    """Halves go away from zero; beside a large element, a small one loses its last bits, before they cancel."""
    next_one = 1 + 2.0**-23
    for sign in (1, -1):
        assert Texture(library, [sign, sign * next_one], linear=True).read([1.0]) == sign * next_one
    small = 2.0**-27 * next_one  # 2^-27 is what counts beside numbers from 1 to 2
    assert Texture(library, [[1, small], [-1, small]], linear=True).read([1.0], [1.0]) == 2.0**-28
    assert Texture(library, [[small, small], [small, small]], linear=True).read([1.0], [1.0]) == small
    for power in range(-8, 9):  # planes: 36 bits below the larger one's power, and on to a power 2^(4k + 2)
        one, unit = 2.0**power, 2.0 ** ((power + 1 - 36 - 2) // 4 * 4 + 2)
        for bit, kept in ((unit, unit), (unit / 2, 0.0), (-unit / 2, -unit)):  # downwards
            planes = [[[one, -one], [0, 0]], [[2 * bit, 2 * bit], [0, 0]]]
            assert Texture(library, planes, linear=True).read([1.0], [0.5], [1.0]) == kept


@pytest.mark.parametrize("side", ["emulator"])
def test_numbers_below_the_normal_range_count_as_zeros(library):
    below, normal = np.float32(1.1e-38), np.float32(1.2e-38)
    got = [Texture(library, v, linear=True).read([1.0])[0] for v in ([below] * 2, [-below] * 2, [below, -below])]
    assert (np.array(got) == 0).all()
    assert np.signbit(got).tolist() == [False, True, False]
    read = Texture(library, [4 * normal, below], linear=True).read([0.5, 1.0, 1.375])
    assert read.tolist() == [4 * normal, 2 * normal, 0]  # half of a smallest number is none


@pytest.mark.parametrize("side", ["emulator"])
def test_where_infinities_count(library):
    """Where each axis' own weight is not 0, even if the product is rounded to none."""
    values = np.zeros((2, 2), np.float32)
    values[1, 1] = np.inf
    near, a_third = 0.5 + 1 / 256, 0.5 + 85 / 256  # 1 and 85 256ths: the product is no 256th
    got = Texture(library, values, linear=True).read([0.5, near, near, 1.5], [a_third, a_third, 0.5, near])
    assert got.tolist() == [0, np.inf, 0, np.inf]
    values[1, 0] = -np.inf
    got = Texture(library, values, linear=True).read([near], [near])
    assert got.view(np.uint32) == NO_NUMBER.view(np.uint32)


def test_no_numbers_and_infinities_as_coordinates(library):
    texture = Texture(library, [3.0, 4, 5], linear=True)
    assert texture.read([np.inf, -np.inf, 1e30, -1e30]).tolist() == [5, 3, 5, 3]
    assert texture.read([np.nan])[0] in (3.0, 5.0)
    border = Texture(library, [3.0, 4, 5], mode="border", border=(9, 0, 0, 0))
    assert border.read([np.inf, -np.inf, 1e30, -1e30]).tolist() == [9] * 4


@pytest.mark.parametrize("kind", TYPES)
def test_every_type(library, kind):
    _, element, channels, _ = TYPES[kind]
    shape = (5, 9) if channels == 1 else (5, 9, channels)
    low, high = (-1000, 1000) if element in (np.int16, np.int32) else (0, 256)
    values = np.random.default_rng(4).integers(low, high, shape).astype(element)
    rows, columns = np.mgrid[:5, :9].reshape(2, -1)
    for resource in (ARRAY, PITCHED):
        texture = Texture(library, values, kind, resource)
        assert np.array_equal(texture.read(columns + 0.5, rows + 0.5), values[rows, columns])
    flat = values.reshape(45) if channels == 1 else values.reshape(45, channels)
    assert np.array_equal(Texture(library, flat, kind).read(np.arange(45) + 0.5), flat)
    fetched = Texture(library, flat, kind, LINEAR_MEMORY)
    assert np.array_equal(fetched.read(np.arange(45)), flat)
    assert not fetched.read([-1, 45, 1000]).any()  # outside is 0


@pytest.mark.parametrize("kind, as_floats, top", [("uchar4", "float4", 255), ("short2", "float2", 32767)])
def test_integers_as_shares_of_their_largest(library, kind, as_floats, top):
    _, element, channels, _ = TYPES[kind]
    draw = np.random.default_rng(5)
    values = draw.integers(np.iinfo(element).min, top + 1, (6, 8, channels)).astype(element)
    values[0, 0] = np.iinfo(element).min  # below -1, were it not cut off
    rows, columns = np.mgrid[:6, :8].reshape(2, -1)
    want = np.maximum(values[rows, columns] / top, -1)
    got = Texture(library, values, kind, as_share=True).read(columns + 0.5, rows + 0.5, kind=as_floats)
    assert np.allclose(got, want, rtol=0, atol=2**-24 if library.side == "emulator" else 2**-17)
    x, y = (draw.uniform(-0.5, n + 0.5, 2000).astype(np.float32) for n in (8, 6))
    got = Texture(library, values, kind, as_share=True, linear=True).read(x, y, kind=as_floats)
    want = expected_share(values, [x, y])
    assert np.allclose(got, want, rtol=0, atol=0 if library.side == "emulator" else 2**-6)


def test_several_channels_are_filtered_alike(library):
    values = small_integers((4, 6, 4))
    x, y = coordinates_for((4, 6), 1 / 16, False)
    got = Texture(library, values, "float4", linear=True, mode="border", border=(1, 2, 3, 4)).read(x, y)
    for channel in range(4):
        want = expected(values[:, :, channel], [x, y], "border", True, border=channel + 1)
        assert np.array_equal(got[:, channel], want)


def test_modes_of_each_axis(library):
    values = small_integers((4, 8))
    x, y = (np.array(v, np.float32) for v in ([-0.25, 1.25, 0.3125], [0.125, 0.375, 1.125]))
    texture = Texture(library, values, mode=("wrap", "mirror", "clamp"), normalized=True)
    got = texture.read(x, y)
    assert got.tolist() == [values[0, 6], values[1, 2], values[3, 2]]


def test_pitched_memory_is_filtered_too(library):
    values = small_integers((6, 9))
    x, y = coordinates_for(values.shape, 1 / 16, False)
    got = Texture(library, values, resource=PITCHED, linear=True).read(x, y)
    assert np.array_equal(got, expected(values, [x, y], linear=True))


# --- copies and questions --------------------------------------------------------------------------------------------
def test_copies_to_and_from_arrays(library):
    values = small_integers((6, 10))
    texture = Texture(library, values)
    part = small_integers((2, 3), seed=9)
    stream = library.stream()
    for how in (None, stream):
        given = np.ascontiguousarray(part) + (0 if how is None else 100)
        values[3:5, 4:7] = given
        source = library.buffer(given)
        for kind, place in ((TO_DEVICE, ctypes.c_void_p(given.ctypes.data)), (ON_DEVICE, source)):
            library.check(
                "copy_2d_to_array",
                ctypes.byref(texture.handles),
                size(16),
                size(3),
                place,
                size(12),
                size(12),
                size(2),
                kind,
                how,
            )
            library.check("api_synchronize")
            out = np.zeros((7, 12), np.float32)
            library.check(
                "array_to_memory",
                ctypes.byref(texture.handles),
                ctypes.c_void_p(out.ctypes.data),
                size(48),
                size(7),
                size(10),
                size(6),
                size(1),
                TO_HOST,
            )
            assert np.array_equal(out[:6, :10], values)
            assert not out[6:].any()
            assert not out[:, 10:].any()
    for x, y, width, height in ((16, 5, 12, 2), (32, 0, 12, 1)):  # beyond the array
        arguments = (size(x), size(y), library.buffer(part), size(12), size(width), size(height), ON_DEVICE, None)
        assert library.code("copy_2d_to_array", ctypes.byref(texture.handles), *arguments) == INVALID_VALUE
        assert library.code("api_last_error") == INVALID_VALUE
    library.check("api_stream_destroy", stream)


def test_what_an_array_knows_of_itself(library):
    for shape, extent in (((9,), (9, 0, 0)), ((4, 9), (9, 4, 0)), ((2, 4, 9), (9, 4, 2))):
        texture = Texture(library, np.zeros(shape))
        bits, sizes, flags = (ctypes.c_int * 5)(), (size * 3)(), ctypes.c_uint(9)
        library.check("array_info", ctypes.byref(texture.handles), bits, sizes, ctypes.byref(flags))
        assert (list(bits), tuple(sizes), flags.value) == ([32, 0, 0, 0, FLOAT], extent, 0)
        kind, array = ctypes.c_int(), ctypes.c_void_p()
        library.check("texture_info", ctypes.byref(texture.handles), ctypes.byref(kind), ctypes.byref(array))
        assert (kind.value, array.value) == (ARRAY, texture.handles.array)


@pytest.mark.parametrize(
    "code, kind, how",
    [
        (INVALID_FILTER, "int", {"linear": True}),
        (INVALID_FILTER, "uchar4", {"linear": True}),
        (INVALID_NORM, "int", {"as_share": True}),
    ],
)
def test_what_a_texture_cannot_be(library, code, kind, how):
    shape = (4, 4, 4) if kind == "uchar4" else (4, 4)
    with pytest.raises(cuda_api.CudaFailure) as caught:
        Texture(library, np.zeros(shape), kind, **how)
    library.code("api_last_error")
    assert caught.value.code == code


def test_bad_arguments(library):
    texture = Handles()
    buffer = library.buffer(np.zeros(64, np.float32))

    def code(**fields):
        recipe = Recipe(ARRAY, (32, 0, 0, 0), FLOAT, 4, 4, 0, 16, (1, 1, 1))
        for name, value in fields.items():
            setattr(recipe, name, value)
        found = library.code("texture_make", ctypes.byref(texture), ctypes.byref(recipe), buffer, None)
        library.code("api_last_error")
        return found

    assert code(bits=(32, 32, 32, 0)) == INVALID_CHANNELS
    assert code(bits=(8, 16, 0, 0), kind=UNSIGNED) == INVALID_CHANNELS
    assert code(bits=(7, 0, 0, 0), kind=UNSIGNED) == INVALID_CHANNELS
    assert code(bits=(8, 0, 0, 0), kind=FLOAT) == INVALID_CHANNELS
    assert code(width=1 << 20) == INVALID_VALUE
    assert code(height=1 << 20) == INVALID_VALUE
    assert code(resource=PITCHED, pitch=20) == INVALID_VALUE  # no multiple of 32
    assert code(resource=9) != 0
    recipe = Recipe(ARRAY, (32, 0, 0, 0), FLOAT, 4, 4, 0, 16, (1, 1, 1))
    assert library.code("texture_of_nothing", ctypes.byref(recipe)) == INVALID_VALUE
    library.code("api_last_error")


def test_nothing_stays_allocated(library):
    def free():
        gc.collect()  # what the exceptions of earlier tests hold
        available, total = size(), size()
        library.check("api_memory_info", ctypes.byref(available), ctypes.byref(total))
        return available.value

    Texture(library, np.zeros((64, 64)))
    before = free()
    for _ in range(20):
        Texture(library, np.zeros((64, 64)))
    if library.side == "emulator":  # others use a GPU too
        assert free() == before


# --- misuse, which only the emulator finds ---------------------------------------------------------------------------
@pytest.mark.parametrize("side", ["emulator"])
def test_a_wrong_read_is_an_error_with_its_place(library):
    plain = np.zeros((4, 4), np.float32)
    texture = Texture(library, plain)
    faults = [
        ("texture of floats", lambda: texture.read([0.5], [0.5], kind="int")),
        ("more channels", lambda: texture.read([0.5], [0.5], kind="float4")),
        ("number of coordinates differs", lambda: texture.read([0.5], axes=1)),
        ("not linear memory", lambda: texture.read([0], axes=0)),
        ("with tex1Dfetch only", lambda: Texture(library, plain[0], resource=LINEAR_MEMORY).read([0.5], axes=1)),
        ("texture of integers", lambda: Texture(library, plain, "int").read([0.5], [0.5], kind="float")),
    ]
    for words, fault in faults:
        with pytest.raises(cuda_api.CudaFailure, match=words) as caught:
            fault()
        assert "textures.cu" in caught.value.detail
        assert "read" in caught.value.detail
    gone = Handles(texture.handles.array, texture.handles.object)
    again = Texture(library, plain)
    library.check("texture_free", ctypes.byref(texture.handles))
    texture.handles = gone
    with pytest.raises(cuda_api.CudaFailure, match="has been destroyed"):
        texture.read([0.5], [0.5])
    texture.handles = Handles()
    assert again.read([0.5], [0.5]).tolist() == [0]
