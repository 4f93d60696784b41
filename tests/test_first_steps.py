"""The first steps, saxpy, stencil_1d and grayscale: what is their own. What all operations share is tested in
test_operations.py."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import cudakern
from cases import HAS_BFLOAT16, emulated_chip, label, native, variants
from cudakern.arrays.dtypes import numpy_dtype

pytestmark = pytest.mark.proves()

KERNELS = {op: list(variants(op, host=False)) for op in ("saxpy", "stencil_1d", "grayscale")}


def kernels(operation):
    return pytest.mark.parametrize("name, row", KERNELS[operation], ids=label)


def on(name, function, *inputs, **keywords):
    with cudakern.use_backend(name):
        return function(*inputs, **keywords)


# --- saxpy -----------------------------------------------------------------------------------------------------------
FACTORS = (2, 2.5, True, 1.5 - 2j, np.float32(2.5), np.float64(2.5), np.int8(3), np.array(3, "int16"))
TYPES = ("bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex64")


def pair(first, second):
    x, y = np.arange(6) % 3, np.arange(6)[::-1] % 4
    return x.astype(first), y.astype(second)


@pytest.mark.parametrize("a", FACTORS, ids=lambda a: f"{type(a).__name__}-{a}")
def test_the_type_of_saxpy_is_numpys(backend, a):
    """A Python number takes the arrays' type where it can; a NumPy number counts with its own."""
    for first, second in itertools.product(TYPES, repeat=2):
        x, y = pair(first, second)
        expected = a * x.astype((a * x + y).dtype) + y
        assert expected.dtype == (a * x + y).dtype
        on_device = cudakern.saxpy(a, cudakern.asarray(x), cudakern.asarray(y)).get()
        for result in (cudakern.saxpy(a, x, y), on_device):
            assert result.dtype == expected.dtype, (first, second)
            np.testing.assert_allclose(result, expected, rtol=1e-3)


@pytest.mark.skipif(not HAS_BFLOAT16, reason="needs ml_dtypes")
def test_bfloat16_stays_with_a_python_number(backend):
    x = np.arange(5).astype(numpy_dtype("bfloat16"))
    d = cudakern.asarray(x)
    for result in (cudakern.saxpy(0.5, x, x), cudakern.saxpy(0.5, d, d).get()):
        assert result.dtype == x.dtype
        assert result.astype("float32").tolist() == [0, 1.5, 3, 4.5, 6]


@kernels("saxpy")
def test_saxpy_of_shapes_that_broadcast(name, row):
    draw = np.random.default_rng(0)
    for first, second in (((4, 1), (5,)), ((), (3,)), ((3,), ()), ((2, 1, 3), (4, 1)), ((1,), (0,)), ((), ())):
        x, y = draw.random(first), draw.random(second)
        result = on(name, cudakern.saxpy, 2.5, x, y, variant=row.name)
        with cudakern.use_backend(name):
            d = cudakern.saxpy(2.5, cudakern.asarray(x), cudakern.asarray(y), variant=row.name)
        expected = 2.5 * x + y
        for got in (result, d.get()):
            assert np.shape(got) == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-15)


@kernels("saxpy")
def test_the_factor_is_found_wherever_it_lies(name, row):
    """A number of the host, one of the device, one element of an array there."""
    x, y = np.arange(100.0), np.ones(100)
    with cudakern.use_backend(name):
        dx, dy = cudakern.asarray(x), cudakern.asarray(y)
        for a in (3, 3.0, np.float64(3), np.array(3.0), cudakern.asarray(3.0), dx[3], dx[::-1][96]):
            result = cudakern.saxpy(a, dx, dy, variant=row.name)
            assert result.get().tolist() == (3 * x + 1).tolist()
        assert cudakern.saxpy(3, x, y, variant=row.name).tolist() == (3 * x + 1).tolist()


@kernels("saxpy")
def test_saxpy_into_its_own_operand(name, row):
    """As the document's program does: y = a * x + y. And into one that overlaps."""
    with cudakern.use_backend(name):
        for length in (1, 7, 1000):
            x, y = np.arange(length, dtype="float32"), np.ones(length, "float32")
            expected = 2 * x + y
            assert cudakern.saxpy(2, x, y, out=y, variant=row.name) is y
            assert y.tolist() == expected.tolist()
            whole = cudakern.asarray(np.arange(length + 1, dtype="float32"))
            before = whole.get()
            target = whole[1:]
            assert cudakern.saxpy(2, whole[:-1], target, out=target, variant=row.name) is target
            assert target.get().tolist() == (2 * before[:-1] + before[1:]).tolist()


@kernels("saxpy")
def test_saxpy_where_boundaries_of_16_bytes_do_not_meet(name, row):
    """Arrays on the device that begin at any element: heads, packs and rests of every length."""
    with cudakern.use_backend(name):
        numbers = np.arange(64, dtype="int16")
        x, y, out = cudakern.asarray(numbers), cudakern.asarray(numbers * 3), cudakern.zeros(64, "int16")
        for i, j, k in ((0, 0, 0), (3, 3, 3), (1, 0, 0), (0, 2, 0), (5, 5, 13), (7, 7, 7)):
            for n in (0, 1, 5, 8, 9, 40):
                out.fill(-1)
                cudakern.saxpy(2, x[i : i + n], y[j : j + n], out=out[k : k + n], variant=row.name)
                expected = np.full(64, -1, "int16")
                expected[k : k + n] = 2 * numbers[i : i + n] + 3 * numbers[j : j + n]
                assert out.get().tolist() == expected.tolist()


def test_what_saxpy_refuses(backend):
    x = np.arange(4, dtype="uint8")
    d = cudakern.asarray(x)
    for v in (x, d):
        for a in (np.arange(1), [[2]], np.ones((1, 1))):
            with pytest.raises(ValueError, match="a must be a scalar, but has shape"):
                cudakern.saxpy(a, v, v)
        for a in (256, -1, 2**70):
            with pytest.raises(OverflowError):
                cudakern.saxpy(a, v, v)
            with pytest.raises(OverflowError):
                a * x + x  # as NumPy
        for a in ("2", None):
            with pytest.raises(TypeError):
                cudakern.saxpy(a, v, v)
        with pytest.raises(ValueError, match=r"x has shape \(4,\) and y has shape \(3,\), which do not broadcast"):
            cudakern.saxpy(2, v, v[:3])
        with pytest.raises(TypeError, match=r"takes arrays of one type, but a is float64 and x is uint8"):
            cudakern.saxpy(np.float64(2), x, x, variant="naive")
        with pytest.raises(TypeError, match="no parameters"):
            cudakern.saxpy(2, v, v, threads=64)
    with pytest.raises(ValueError, match="a must be a scalar"):
        cudakern.saxpy(d, d, d)
    with pytest.raises(TypeError, match="masked"):
        cudakern.saxpy(np.ma.array(2, mask=True), d, d)
    with pytest.raises(ValueError, match=r"out is \(3,\)"):
        cudakern.saxpy(2, x, x, out=np.zeros(3, "uint8"))
    with pytest.raises(TypeError, match="same_kind"):
        cudakern.saxpy(2.5, x, x, out=np.zeros(4, "uint8"))


# --- stencil_1d ------------------------------------------------------------------------------------------------------
RADII = (0, 1, 2, 3, 4, 10, 100, 1023, 1024)


def around(x, radius):
    """By the definition, a sum an element, in Python's own numbers."""
    values = x.tolist()
    return [sum(values[max(i - radius, 0) : i + radius + 1]) for i in range(len(values))]


@kernels("stencil_1d")
@pytest.mark.parametrize("radius", RADII)
def test_every_radius_with_every_length_near_a_block(name, row, radius):
    """Lengths around what a block has of results, and around the radius: a halo that is longer than the array."""
    draw = np.random.default_rng(radius)
    for threads in (1, 32, 33, 96):
        for length in {0, 1, 2, radius, radius + 1, 2 * radius + 1, threads - 1, threads, threads + 1, 7 * threads + 3}:
            if length > 200 * threads:  # the emulator starts each thread
                continue
            x = draw.integers(-99, 100, length).astype("int32")
            result = on(name, cudakern.stencil_1d, x, radius, variant=row.name, threads=threads)
            assert result.dtype == x.dtype
            assert result.tolist() == around(x, radius)


@kernels("stencil_1d")
def test_the_widest_tile_of_the_widest_type(name, row):
    threads = next(p for p in row.parameters if p.name == "threads").high
    x = np.arange(5000) * (1 - 2j)
    result = on(name, cudakern.stencil_1d, x, 1024, variant=row.name, threads=threads)
    assert result.tolist() == around(x, 1024)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_all_stencils_are_the_same_bits(dtype):
    """All kernels add from left to right; NumPy's row is within the bound of its sum's length."""
    x = np.random.default_rng(4).standard_normal(3000).astype(dtype)
    for radius in RADII:
        results = {
            on(name, cudakern.stencil_1d, x, radius, variant=row.name).tobytes() for name, row in KERNELS["stencil_1d"]
        }
        assert len(results) == 1
        wide = x.astype(np.result_type(x, np.longdouble))
        exact, scale = (np.convolve(w, np.ones(2 * radius + 1, w.dtype))[radius:][:3000] for w in (wide, np.abs(wide)))
        unit, added = (np.finfo(t).eps / 2 for t in (dtype, "float32" if dtype == "float16" else dtype))
        for result in (np.frombuffer(results.pop(), dtype), cudakern.stencil_1d(x, radius, variant="numpy")):
            assert np.max(np.abs(result - exact) / scale) <= 1.1 * (2 * radius * added + unit)


def test_a_stencil_is_a_convolution(backend):
    for dtype in ("bool", "uint8", "int64", "float64", "complex128"):
        x = (np.arange(50) * 37 % 11).astype(dtype)
        for radius in (0, 3, 24):
            expected = np.convolve(x, np.ones(2 * radius + 1, dtype), "same")
            for result in (cudakern.stencil_1d(x, radius), cudakern.stencil_1d(cudakern.asarray(x), radius).get()):
                assert result.dtype == x.dtype
                assert result.tolist() == expected.tolist()


@kernels("stencil_1d")
def test_integers_wrap_and_bools_are_or(name, row):
    x = np.full(20, 100, "int8")
    expected = np.array(around(x, 3)).astype("int8")
    assert on(name, cudakern.stencil_1d, x, variant=row.name).tolist() == expected.tolist()
    x = np.zeros(20, bool)
    x[[0, 12]] = True
    expected = [i <= 3 or 9 <= i <= 15 for i in range(20)]
    assert on(name, cudakern.stencil_1d, x, variant=row.name).tolist() == expected


@kernels("stencil_1d")
def test_an_infinity_stays_within_its_radius(name, row):
    """No sum is made from its neighbour's: what went in once would never come out."""
    x = np.ones(500, "float32")
    x[[100, 300]] = np.inf, np.nan
    result = on(name, cudakern.stencil_1d, x, 5, variant=row.name)
    assert np.flatnonzero(np.isinf(result)).tolist() == list(range(95, 106))
    assert np.flatnonzero(np.isnan(result)).tolist() == list(range(295, 306))
    z = x.astype("complex64")
    for z_result in (on(name, cudakern.stencil_1d, z, 5, variant=v) for v in (row.name, "numpy")):
        assert np.array_equal(z_result.real, result, equal_nan=True)
        assert not z_result.imag.any()


def test_the_document_s_stencil(backend):
    """1024 ones, radius 3: 7 everywhere but at the ends."""
    for row in cudakern.variants("stencil_1d"):
        result = cudakern.stencil_1d(np.ones(1024, "int32"), variant=row.name)
        assert result.tolist() == [4, 5, 6, *[7] * 1018, 6, 5, 4]


def test_what_stencil_1d_refuses(backend):
    x = np.ones(10, "float32")
    d = cudakern.asarray(x)
    for v in (x, d):
        for variant in ("auto", "shared_halo"):
            for radius in (-1, 1025, 2**40):
                with pytest.raises(ValueError, match=f"stencil_1d: `radius` .*must be 0 to 1024, not {radius}"):
                    cudakern.stencil_1d(v, radius, variant=variant)
            for radius in (2.0, "3", None):
                with pytest.raises(TypeError, match="stencil_1d: radius= must be an integer"):
                    cudakern.stencil_1d(v, radius, variant=variant)
            for shape in ((2, 5), (1, 10), (10, 1)):
                with pytest.raises(ValueError, match=r"x must be 1-D, but has shape \(\d+, \d+\)"):
                    cudakern.stencil_1d(v.reshape(shape), variant=variant)
            with pytest.raises(ValueError, match=r"out is \(9,\), and the result is \(10,\)"):
                cudakern.stencil_1d(v, out=v[:9], variant=variant)
    with pytest.raises(ValueError, match="x must be 1-D"):
        cudakern.stencil_1d(3.0)
    assert cudakern.stencil_1d(x, np.int8(0), variant="global_memory").tolist() == x.tolist()


@kernels("stencil_1d")
def test_a_stencil_into_its_own_input(name, row):
    """Other threads still read what one would overwrite."""
    with cudakern.use_backend(name):
        x = np.arange(1000)
        expected = around(x, 50)
        d = cudakern.asarray(x)
        assert cudakern.stencil_1d(d, 50, out=d, variant=row.name) is d
        assert d.get().tolist() == expected
        d = cudakern.asarray(x)
        assert cudakern.stencil_1d(d[::-1], 50, out=d, variant=row.name) is d
        assert d.get().tolist() == expected[::-1]
        assert cudakern.stencil_1d(x, 50, out=x, variant=row.name) is x
        assert x.tolist() == expected


# --- grayscale -------------------------------------------------------------------------------------------------------
def luminance(red, green, blue):
    """The definition, in exact numbers: to nearest, halves up."""
    exact = Fraction(21, 100) * int(red) + Fraction(72, 100) * int(green) + Fraction(7, 100) * int(blue)
    return math.floor(exact + Fraction(1, 2))


def gray(image):
    """The same for pictures, in whole numbers."""
    red, green, blue = (image[..., channel].astype(int) for channel in range(3))
    return (21 * red + 72 * green + 7 * blue + 50) // 100


def random_image(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype="uint8")


def tied(image):
    """Where the exact sum lies halfway between two numbers."""
    return (image[..., :3].astype(int) @ [21, 72, 7]) % 100 == 50


def sample(name):
    """A picture that matplotlib ships."""
    import matplotlib.cbook
    import PIL.Image

    with PIL.Image.open(matplotlib.cbook.get_sample_data(name, asfileobj=False)) as picture:
        return np.asarray(picture)


def test_the_luminance_is_rounded_to_nearest(backend):
    """Every kernel and NumPy's row: the ends of each channel, halves, and pixels by chance."""
    image = random_image(20, 50, 3)
    image[0] = 0
    image[1] = 255
    image[2, :, 0] = image[3, :, 1] = image[4, :, 2] = 255
    halves = [
        p for p in itertools.product(range(0, 256, 5), repeat=3) if (21 * p[0] + 72 * p[1] + 7 * p[2]) % 100 == 50
    ]
    image[5:7] = np.array(halves[:100]).reshape(2, 50, 3)
    assert tied(image[5:7]).all()
    expected = [[luminance(*pixel) for pixel in row] for row in image]
    assert expected[0] == [0] * 50
    assert expected[1] == [255] * 50  # the weights add up to 1
    for row in cudakern.variants("grayscale"):
        result = cudakern.grayscale(image, variant=row.name)
        assert result.dtype == np.uint8
        assert result.tolist() == expected
    assert gray(image).tolist() == expected


@kernels("grayscale")
@pytest.mark.parametrize("channels", [3, 4])
def test_edges_that_are_no_multiples_of_a_block(name, row, channels):
    """The document's picture of 76 x 62 pixels, and what lies around whole blocks and whole words."""
    sizes = ((62, 76), (16, 16), (15, 17), (17, 15), (1, 1), (1, 100), (100, 1), (33, 2), (2, 33), (64, 64), (3, 5))
    for height, width in sizes:
        image = random_image(height, width, channels)
        for given in [{p.name: value} for p in row.parameters for value in p.choices or (1, 32, 100, 1024)]:
            result = on(name, cudakern.grayscale, image, variant=row.name, **given)
            assert np.array_equal(result, gray(image)), (height, width, given)


def test_the_document_s_grid(backend):
    """76 x 62 pixels in blocks of 16 x 16: 80 x 64 threads."""
    profile = cudakern.profile(cudakern.grayscale, random_image(62, 76, 3), variant="blocks_2d", repeat=1, warmup=0)
    assert (profile.grid, profile.block) == ((5, 4, 1), (16, 16, 1))


def test_a_picture_higher_than_a_grid(backend):
    """65,535 blocks in y are what a grid may have: a thread goes on to further rows."""
    image = random_image(8 * 65_535 + 9, 1, 3)
    profile = cudakern.profile(cudakern.grayscale, image, variant="blocks_2d", side=8, repeat=1, warmup=0)
    assert profile.grid == (1, 65_535, 1)
    assert np.array_equal(cudakern.grayscale(image, variant="blocks_2d", side=8), gray(image))


@kernels("grayscale")
def test_alpha_is_ignored(name, row):
    image = random_image(30, 41, 4)
    clear = image.copy()
    clear[..., 3] = 255 - clear[..., 3]
    for given in (image, clear, image[..., :3].copy(), image[..., :3]):
        assert np.array_equal(on(name, cudakern.grayscale, given, variant=row.name), gray(image))


PARTS = {
    "a part": lambda x: x[3:-2, 1:-4],
    "upside down": lambda x: x[::-1],
    "mirrored": lambda x: x[:, ::-1],
    "every other": lambda x: x[::2, 1::3],
    "blue first": lambda x: x[..., 2::-1],
    "without alpha": lambda x: x[..., :3],
    "turned": lambda x: x.transpose(1, 0, 2),
    "last channels": lambda x: x[..., -3:],
}


@kernels("grayscale")
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("channels", [3, 4])
def test_parts_of_pictures_are_read_where_they_lie(name, row, channels, part):
    """Any strides: the same picture, and, on the device, not one call of the runtime more, nor memory for a copy."""
    image = random_image(43, 57, channels)
    expected = gray(PARTS[part](image))
    assert np.array_equal(on(name, cudakern.grayscale, PARTS[part](image), variant=row.name), expected)
    with cudakern.use_backend(name):
        view = PARTS[part](cudakern.asarray(image))
        plain, out = cudakern.asarray(PARTS[part](image)), cudakern.empty(view.shape[:2], "uint8")
        counts = []
        for given in (plain, view, view):
            native(name).inject_fault(0, 1)  # counts anew
            used = native(name).pool_used(0)
            cudakern.grayscale(given, out, variant=row.name)
            counts.append((native(name).fault_count(), native(name).pool_used(0) - used))
            assert np.array_equal(out.get(), expected)
            out.fill(77)
        assert counts[2] == counts[1] == counts[0]


@kernels("grayscale")
def test_planes_of_channels(name, row):
    """Channels that are no neighbours, as other libraries keep them: (channel, height, width)."""
    planes = random_image(3, 20, 31)
    expected = gray(planes.transpose(1, 2, 0))
    with cudakern.use_backend(name):
        for x in (planes, cudakern.asarray(planes)):
            result = cudakern.grayscale(x.transpose(1, 2, 0), variant=row.name)
            assert np.array_equal(result.get() if x is not planes else result, expected)


@kernels("grayscale")
@pytest.mark.parametrize("channels", [3, 4])
def test_words_that_begin_anywhere(name, row, channels):
    """Bytes of the device from every offset: loads and stores of words go by boundaries, and by what is left."""
    with cudakern.use_backend(name):
        data = random_image(400)
        d, whole = cudakern.asarray(data), cudakern.empty((100,), "uint8")
        for first, to in itertools.product(range(0, 17), (0, 1, 2, 3)):
            for height, width in ((1, 0), (1, 1), (1, 3), (1, 4), (1, 9), (1, 30), (3, 7), (5, 4)):
                end = first + height * width * channels
                shape = (height, width, channels)
                whole.fill(77)
                out = whole[to : to + height * width].reshape(height, width)
                cudakern.grayscale(d[first:end].reshape(shape), out, variant=row.name)
                expected = np.full(100, 77)
                expected[to : to + height * width] = gray(data[first:end].reshape(shape)).ravel()
                assert whole.get().tolist() == expected.tolist()


@kernels("grayscale")
def test_gray_pictures_into_parts_of_others(name, row):
    image = random_image(20, 33, 3)
    for part in (np.s_[2:22, 5:38], np.s_[1:41:2, :99:3], np.s_[30:10:-1, 33:0:-1]):
        frame = np.full((50, 100), 7, "uint8")
        expected = frame.copy()
        expected[part] = gray(image)
        with cudakern.use_backend(name):
            d = cudakern.asarray(frame)
            cudakern.grayscale(cudakern.asarray(image), out=d[part], variant=row.name)
            cudakern.grayscale(image, out=frame[part], variant=row.name)
        assert np.array_equal(d.get(), expected)
        assert np.array_equal(frame, expected)


def test_gray_over_its_own_picture(backend):
    """The red channel takes the result while the others are still read."""
    for row in cudakern.variants("grayscale"):
        image = random_image(30, 40, 3)
        expected = gray(image)
        if not row.on_host:
            d = cudakern.asarray(image)
            cudakern.grayscale(d, out=d[..., 0], variant=row.name)
            assert np.array_equal(d[..., 0].get(), expected)
        cudakern.grayscale(image, out=image[..., 0], variant=row.name)
        assert np.array_equal(image[..., 0], expected)


@pytest.mark.parametrize("picture", ["grace_hopper.jpg", "logo2.png"])
def test_real_pictures_as_pillow_has_them(backend, picture):
    """By the same weights. Pillow adds in float32: halves may go the other way there, and nothing else."""
    import PIL.Image

    image = sample(picture)
    assert image.shape[2] == (3 if picture.endswith("jpg") else 4)
    assert len(np.unique(image)) > 100
    whole = PIL.Image.fromarray(np.ascontiguousarray(image[..., :3]))
    theirs = np.asarray(whole.convert("L", (0.21, 0.72, 0.07, 0))).astype(int)
    for row in cudakern.variants("grayscale"):
        ours = cudakern.grayscale(image, variant=row.name).astype(int)
        assert np.array_equal(ours, gray(image))
        assert np.abs(ours - theirs).max() <= 1
        assert tied(image)[ours != theirs].all()


def test_what_grayscale_refuses(backend):
    image = random_image(4, 6, 3)
    d = cudakern.asarray(image)
    for given in (image, d):
        for variant in ("auto", "naive"):
            for wrong, message in (
                (given[..., 0], r"not \(4, 6\): pass one picture at a time"),
                (given[..., :2], r"not \(4, 6, 2\)"),
                (given.reshape(6, 2, 6), r"\(height, width, 3\) or \(height, width, 4\), not \(6, 2, 6\)"),
                (given.transpose(2, 0, 1), r"not \(3, 4, 6\): .* its channels last; image.transpose"),
                (given[None], r"not \(1, 4, 6, 3\): pass one picture at a time"),
                (given[0, 0], r"not \(3,\)"),
            ):
                with pytest.raises(ValueError, match=f"grayscale: an image must have shape.*{message}"):
                    cudakern.grayscale(wrong, variant=variant)
            for dtype in ("float32", "int32", "bool", "int8", "uint16"):
                with pytest.raises(TypeError, match=rf"^grayscale.* takes uint8, not {dtype}; .*255 \* image"):
                    cudakern.grayscale(given.astype(dtype), variant=variant)
            with pytest.raises(ValueError, match=r"out is \(4, 6, 3\), and the result is \(4, 6\)"):
                cudakern.grayscale(given, out=given, variant=variant)
    with pytest.raises(TypeError, match="out is bool: Cannot cast .* rule 'same_kind'"):
        cudakern.grayscale(image, out=np.zeros((4, 6), "bool"))
    with pytest.raises(TypeError, match="not int64"):
        cudakern.grayscale(image.tolist())
    with pytest.raises(ValueError, match="`side`.* must be .*, not 20"):
        cudakern.grayscale(image, variant="blocks_2d", side=20)
    out = np.zeros((4, 6), "float64")
    assert cudakern.grayscale(image, out=out, variant="naive") is out
    assert np.array_equal(out, gray(image))


# --- what all of them say --------------------------------------------------------------------------------------------
class Named(np.ndarray):
    """A subclass, as numpy.matrix is one."""


def test_subclasses_are_plain_arrays_and_masks_are_refused(backend):
    """Only matmul, whose rules are numpy.matmul's to the last, gives what a subclass gives."""
    named, masked = np.array([1.0, 2.0]).view(Named), np.ma.array([1.0, 2.0], mask=[True, False])
    for call in (cudakern.sort, cudakern.inclusive_scan, lambda x: cudakern.vector_add(x, x)):
        assert type(call(named)) is np.ndarray
        with pytest.raises(TypeError, match=r"is a masked array, and its mask would be lost: take \w\.filled\(0\)"):
            call(masked)


@pytest.mark.parametrize("number", FACTORS[:-1], ids=lambda a: f"{type(a).__name__}-{a}")
def test_a_number_next_to_an_array_on_the_device(backend, number):
    for dtype in TYPES:
        x, _ = pair(dtype, dtype)
        for first, second in ((x, number), (number, x)):
            expected = np.add(first, second)
            on_device = (cudakern.asarray(v) if v is x else v for v in (first, second))
            result = cudakern.vector_add(*on_device).get()
            assert result.dtype == expected.dtype, dtype
            np.testing.assert_array_equal(result, expected)


def test_numbers_among_arrays_on_the_device(backend):
    x = np.float32([[1, 2], [3, 4]])
    d, out = cudakern.asarray(x), cudakern.empty((2, 2), "float32")
    for _ in range(3):  # the second call is of a known kind
        assert cudakern.vector_add(d, 5).get().tolist() == (x + 5).tolist()
        assert cudakern.vector_add(d[:, 0], 7.5, variant="naive").get().tolist() == (x[:, 0] + 7.5).tolist()
        assert float(cudakern.vector_add(d[0, 0], 2)) == 3
        assert cudakern.vector_add(2.5, d.T, out=out) is out
        assert out.get().tolist() == (x.T + 2.5).tolist()
        assert cudakern.saxpy(2, d, 1).get().tolist() == (2 * x + 1).tolist()
        assert cudakern.lookup_2d(d, 0.5, cudakern.asarray(np.float32([0, 1]))).get().tolist() == [2, 3]
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        cudakern.vector_add(d.astype("uint8"), 300)
    with pytest.raises(TypeError, match=r"\(list\): copy y to that device with cudakern.asarray\(y\) inside"):
        cudakern.vector_add(d, [1, 2])
    with pytest.raises(TypeError, match=r"\(NoneType\): y is missing"):
        cudakern.vector_add(d, None)
    with pytest.raises(TypeError, match=r"out is on the device .* and x is in host memory \(int\)"):
        cudakern.vector_add(1, 2, out=out)
    with pytest.raises(TypeError, match=r"cudakern.asarray\(table, 'float32'\) inside"):
        cudakern.lookup_2d(1.5, d, d)


def test_why_a_row_does_not_run_on_an_older_chip():
    with cudakern.use_backend("emulator"), emulated_chip("P100"):
        for x in (np.arange(5), cudakern.asarray(np.arange(5))):
            with pytest.raises(
                NotImplementedError, match=r"at least 7.0, but this device has 6.0 \(Emulated Tesla P100"
            ):
                cudakern.inclusive_scan(x, variant="lookback")


# --- words for what is no array, and for NumPy's other keywords ------------------------------------------------------
@pytest.mark.parametrize("variant", ["auto", "numpy", "naive"])
def test_the_name_of_a_file_is_no_picture(backend, variant, tmp_path):
    for name in ("photo.png", tmp_path / "photo.png"):
        with pytest.raises(TypeError, match="pixels, not the name of a file: .*Image.open"):
            cudakern.grayscale(name, variant=variant)


@pytest.mark.parametrize("variant", ["auto", "numpy", "naive"])
def test_keywords_of_numpys_add(backend, variant):
    for keyword in ("where", "casting", "dtype"):
        with pytest.raises(TypeError, match=f"(unknown keyword|vector_add.* has no parameter) '{keyword}'"):
            cudakern.vector_add([1], [2], variant=variant, **{keyword: None})
    with pytest.raises(TypeError, match="foo"):
        cudakern.vector_add([1], [2], variant=variant, foo=None)


@pytest.mark.parametrize("variant", ["auto", "numpy", "naive"])
def test_none_is_no_picture(backend, variant):
    with pytest.raises(TypeError, match="grayscale: image must be an array, not None"):
        cudakern.grayscale(None, variant=variant)


def test_none_is_no_operand(backend):
    with pytest.raises(TypeError, match="stencil_1d: x must be an array, not None"):
        cudakern.stencil_1d(None, variant="shared_halo")
    with pytest.raises(TypeError, match="packbits: a must be an array, not None"):
        cudakern.packbits(None)
    with pytest.raises(TypeError, match="vector_add: y must be an array, not None"):
        cudakern.vector_add([1], None, variant="naive")


# --- two types -------------------------------------------------------------------------------------------------------
TWO_TYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first, second", list(itertools.product(TWO_TYPES, repeat=2)))
def test_saxpy_of_two_types_is_numpys(backend, first, second):
    """Products that overflow in the first type, and factors that are rounded to it."""
    values = np.array([0, 1, 3, 100, 200, 2**30 + 1])
    x, y = values.astype(first), values[::-1].astype(second)
    for a in (2, 300, -1, 0.1, True, np.float32(0.1), np.int16(300)):
        try:
            expected = a * x + y
        except OverflowError:
            for place in (np.asarray, cudakern.asarray):
                with pytest.raises(OverflowError):
                    cudakern.saxpy(a, place(x), place(y))
            continue
        inexact = expected.dtype.kind in "fc"
        for result in (cudakern.saxpy(a, x, y), cudakern.saxpy(a, cudakern.asarray(x), cudakern.asarray(y)).get()):
            assert result.dtype == expected.dtype
            # a kernel may round product and sum as one
            error = np.finfo(expected.dtype).eps if inexact and result.dtype == (a * x).dtype else 0
            np.testing.assert_allclose(result, expected, rtol=2 * float(error))


@pytest.mark.parametrize("second", TWO_TYPES)
def test_bfloat16_with_another_type_is_numpys(backend, second):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, y = np.arange(4).astype(ml_dtypes.bfloat16), np.ones(4, second)
    for a, b in ((x, y), (y, x)):
        expected = a + b
        for result in (cudakern.vector_add(a, b), cudakern.vector_add(*map(cudakern.asarray, (a, b))).get()):
            assert result.dtype == expected.dtype
            assert np.array_equal(result, expected)
        for factor in (2, 0.5):
            expected = factor * a + b
            for result in (cudakern.saxpy(factor, a, b), cudakern.saxpy(factor, *map(cudakern.asarray, (a, b))).get()):
                assert result.dtype == expected.dtype
                assert np.array_equal(result, expected)


def test_saxpy_of_two_types_keeps_shapes_out_and_streams(backend):
    x, y = np.ones((2, 1), np.float32), np.arange(3.0)
    expected = 0.1 * x + y
    for place in (np.asarray, cudakern.asarray):
        out = place(np.zeros((2, 3)))
        assert cudakern.saxpy(0.1, place(x), place(y), out) is out
        assert np.array_equal(out.get() if place is cudakern.asarray else out, expected)
        with pytest.raises(
            ValueError, match=r"^saxpy: x has shape \(2, 1\) and y has shape \(3, 1\), which do not broadcast"
        ):
            cudakern.saxpy(0.1, place(x), place(np.zeros((3, 1))))
    with pytest.raises(ValueError, match="a must be a scalar"):
        cudakern.saxpy([1, 2], x, y)
    stream = cudakern.Stream()
    result = cudakern.saxpy(0.1, cudakern.asarray(x), cudakern.asarray(y), stream=stream)
    assert np.array_equal(result.get(stream=stream), expected)
