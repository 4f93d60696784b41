"""__constant__ and __device__ variables: copies by name, address and size, with CUDA's codes and order."""

import ctypes

import numpy as np
import pytest

import cuda_api
from cuda_api import DEFAULT, ON_DEVICE, TO_DEVICE, TO_HOST

INVALID_VALUE, INVALID_SYMBOL, INVALID_DIRECTION = 1, 13, 21
SCALE, TABLE, PAIR, COUNTER, CELLS, NO_SYMBOL = range(6)
SIZES = {SCALE: 4, TABLE: 400, PAIR: 16, COUNTER: 4, CELLS: 48}
PAIR_TYPE = np.dtype({"names": ["tag", "value"], "formats": ["i1", "f8"], "offsets": [0, 8], "itemsize": 16})
size = ctypes.c_size_t


@pytest.fixture
def library(side):
    made = cuda_api.load(side, "symbols")
    made.code("api_last_error")
    return made


def at(array):
    return ctypes.c_void_p(array.ctypes.data)


def put(library, which, array, offset=0, kind=TO_DEVICE):
    library.check("to_symbol", which, None, at(array), size(array.nbytes), size(offset), kind)


def fetch(library, which, array, offset=0, kind=TO_HOST):
    library.check("from_symbol", at(array), which, None, size(array.nbytes), size(offset), kind)
    return array


@pytest.fixture
def values(library):
    """What all symbols hold; put back afterwards, since they live as long as the library."""
    kept = {which: fetch(library, which, np.zeros(bytes_, np.uint8)) for which, bytes_ in SIZES.items()}
    yield kept
    for which, bytes_ in kept.items():
        put(library, which, bytes_)
    library.check("api_synchronize")


def read(library, stream=None, pause=0):
    out = library.buffer(np.zeros(104))
    library.start("run_read_symbols", ctypes.c_ulonglong(pause), out, block=32, stream=stream)
    return out


def test_initial_values(library, values):
    assert values[SCALE].view(np.float32) == 2.5
    assert not values[TABLE].any()
    assert values[PAIR].view(PAIR_TYPE)[0].tolist() == (7, 0.125)
    assert values[COUNTER].view(np.int32) == 40
    assert values[CELLS].view(np.int32).tolist() == list(range(1, 13))
    got = read(library).get()
    assert got[:4].tolist() == [2.5, 7, 0.125, 40]
    assert not got[4:].any()


@pytest.mark.usefixtures("values")
@pytest.mark.parametrize("kind", [TO_DEVICE, DEFAULT])
def test_kernels_read_what_was_copied_there(library, kind):
    table = np.random.default_rng(kind).integers(-(2**24), 2**24, 100, dtype=np.int32)
    put(library, TABLE, table, kind=kind)
    put(library, TABLE, np.array([7, 8, 9], np.int32), offset=40, kind=kind)
    table[10:13] = 7, 8, 9
    put(library, SCALE, np.array([-1.5], np.float32), kind=kind)
    put(library, PAIR, np.array([(3, 1e300)], PAIR_TYPE), kind=kind)
    put(library, COUNTER, np.array([-4], np.int32), kind=kind)
    assert read(library).get().tolist() == [-1.5, 3, 1e300, -4, *table]
    back = fetch(library, TABLE, np.zeros(100, np.int32), kind=DEFAULT if kind == DEFAULT else TO_HOST)
    assert np.array_equal(back, table)
    assert fetch(library, TABLE, np.zeros(2, np.int32), offset=44).tolist() == [8, 9]


@pytest.mark.usefixtures("values")
def test_the_defaults_are_cudas(library):
    value, bytes_ = ctypes.c_float(0.75), size()
    library.check("scale_round", ctypes.byref(value))
    assert value.value == 0.75
    value.value = 0
    library.check("symbol_as_in_c", ctypes.byref(value), ctypes.byref(bytes_))
    assert (value.value, bytes_.value) == (0.75, 4)


@pytest.mark.usefixtures("values")
def test_device_memory_at_the_other_end(library):
    table = np.arange(100, dtype=np.int32) - 50
    buffer = library.buffer(table)
    library.check("to_symbol", TABLE, None, buffer.address, size(400), size(0), ON_DEVICE)
    assert read(library).get()[4:].tolist() == table.tolist()
    other = library.buffer(np.zeros(60, np.int32))
    library.check("from_symbol", other.address, TABLE, None, size(240), size(80), ON_DEVICE)
    library.check("api_synchronize")
    assert np.array_equal(other.get(), table[20:80])


@pytest.mark.usefixtures("values")
def test_kernels_change_device_variables(library):
    library.launch("run_count", grid=3, block=32)
    assert fetch(library, COUNTER, np.zeros(1, np.int32)) == 40 + 96
    assert fetch(library, CELLS, np.zeros(12, np.int32)).tolist() == [300 + i for i in range(1, 13)]


@pytest.mark.parametrize("which", SIZES)
def test_size_and_address(library, which):
    assert library.value("symbol_size", size, which, None) == SIZES[which]
    address = library.value("symbol_address", ctypes.c_void_p, which, None)
    assert address % 4 == 0
    kind, device, here, there = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    places = [ctypes.byref(place) for place in (kind, device, here, there)]
    library.check("api_pointer", ctypes.c_void_p(address), *places)
    assert (kind.value, device.value, here.value, there.value) == (2, 0, address, None)  # cudaMemoryTypeDevice


@pytest.mark.usefixtures("values")
@pytest.mark.parametrize("which", [TABLE, CELLS])
def test_the_address_is_device_memory(library, which):
    """For copies and fills, and for kernels, which may read constants by their address too."""
    count = SIZES[which] // 4
    given = np.random.default_rng(1).integers(-(2**31), 2**31, count, dtype=np.int32)
    address = ctypes.c_void_p(library.value("symbol_address", ctypes.c_void_p, which, None))
    library.check("api_copy", address, at(given), size(given.nbytes), TO_DEVICE)
    library.check("api_synchronize")
    assert np.array_equal(fetch(library, which, np.zeros(count, np.int32)), given)
    out = library.buffer(np.zeros(count, np.int32))
    library.launch("run_read_address", address, count, out, block=32)
    assert np.array_equal(out.get(), given)
    library.check("api_set", address, 0, size(8))
    library.check("api_synchronize")
    back = np.zeros(count, np.int32)
    library.check("api_copy", at(back), address, size(back.nbytes), TO_HOST)
    assert back[:2].tolist() == [0, 0]
    assert np.array_equal(back[2:], given[2:])


def test_copies_keep_the_streams_order(library, values):
    stream, tables = library.stream(), [np.full(100, i, np.int32) for i in range(1, 4)]
    out = [read(library, stream, pause=5_000_000)]
    back = np.zeros(100, np.int32)
    for table in tables:
        library.check("to_symbol_async", TABLE, None, at(table), size(400), size(0), TO_DEVICE, stream)
        out.append(read(library, stream, pause=1_000_000))
    library.check("from_symbol_async", at(back), TABLE, None, size(396), size(4), TO_HOST, stream)
    library.check("api_stream_synchronize", stream)
    assert [set(buffer.get()[4:]) for buffer in out] == [{0}, {1}, {2}, {3}]
    assert set(back[:99]) == {3}
    assert back[99] == 0
    library.check("api_stream_destroy", stream)


@pytest.mark.usefixtures("values")
def test_a_copy_that_does_not_wait_comes_behind_the_default_streams_work(library):
    out, ones = read(library, pause=5_000_000), np.ones(100, np.int32)
    put(library, TABLE, ones)
    assert not out.get()[4:].any()
    assert read(library).get()[4:].all()


@pytest.mark.usefixtures("values")
@pytest.mark.parametrize("way", ["", "_async"])
@pytest.mark.parametrize("bytes_, offset", [(401, 0), (4, 397), (400, 1), (1, 400)])
def test_bounds(library, side, way, bytes_, offset):
    if way and side == "cuda":
        return  # CUDA looks at the bounds of a copy that waits only (13.0 on an H200); the other writes beyond
    host, stream = np.zeros(512, np.uint8), [None] if way else []
    code = library.code("to_symbol" + way, TABLE, None, at(host), size(bytes_), size(offset), TO_DEVICE, *stream)
    assert code == library.code("api_last_error") == INVALID_VALUE
    code = library.code("from_symbol" + way, at(host), TABLE, None, size(bytes_), size(offset), TO_HOST, *stream)
    assert code == library.code("api_last_error") == INVALID_VALUE
    assert not read(library).get()[4:].any()


@pytest.mark.parametrize("way", ["", "_async"])
def test_directions(library, way):
    host, stream = np.zeros(400, np.uint8), [None] if way else []
    whole = size(400), size(0)
    assert library.code("to_symbol" + way, TABLE, None, at(host), *whole, TO_HOST, *stream) == INVALID_DIRECTION
    assert library.code("api_last_error") == INVALID_DIRECTION
    assert library.code("from_symbol" + way, at(host), TABLE, None, *whole, TO_DEVICE, *stream) == INVALID_DIRECTION
    assert library.code("api_last_error") == INVALID_DIRECTION


def test_variables_that_are_not_symbols(library):
    host = np.zeros(4, np.int32)
    device = library.buffer(np.zeros(4, np.int32))
    place, bytes_ = ctypes.c_void_p(), size()
    for elsewhere in (at(host), device.address):
        for call in (
            ("to_symbol", NO_SYMBOL, elsewhere, at(host), size(4), size(0), TO_DEVICE),
            ("to_symbol_async", NO_SYMBOL, elsewhere, at(host), size(4), size(0), TO_DEVICE, None),
            ("from_symbol", at(host), NO_SYMBOL, elsewhere, size(4), size(0), TO_HOST),
            ("from_symbol_async", at(host), NO_SYMBOL, elsewhere, size(4), size(0), TO_HOST, None),
            ("symbol_address", ctypes.byref(place), NO_SYMBOL, elsewhere),
            ("symbol_size", ctypes.byref(bytes_), NO_SYMBOL, elsewhere),
        ):
            assert library.code(*call) == INVALID_SYMBOL, call
            assert library.code("api_last_error") == INVALID_SYMBOL


@pytest.mark.parametrize("side", ["emulator"])
def test_words(library):
    host = np.zeros(512, np.uint8)
    library.code("to_symbol", TABLE, None, at(host), size(396), size(8), TO_DEVICE)
    assert "396 bytes from byte 8 on; the symbol has only 400 bytes" in library.detail()
    for bytes_, offset in ((2**64 - 4, 8), (4, 2**64 - 4)):  # whose sum is small again
        assert library.code("to_symbol", TABLE, None, at(host), size(bytes_), size(offset), TO_DEVICE) == INVALID_VALUE
    library.code("from_symbol", at(host), TABLE, None, size(4), size(0), TO_DEVICE)
    assert "DeviceToHost" in library.detail()
    library.code("symbol_size", ctypes.byref(size()), NO_SYMBOL, at(host))
    assert "is not a __constant__ or __device__ variable" in library.detail()
    library.code("api_last_error")
