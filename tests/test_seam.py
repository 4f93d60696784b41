"""The seam's contract, on both sides: limits, codes, units and the meaning of device functions."""

import ctypes

import numpy as np
import pytest

import cuda_api
from cases import native
from cuda_api import DEFAULT

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, PEER_ACCESS_UNSUPPORTED = 1, 2, 101, 217
size = ctypes.c_size_t

pytestmark = pytest.mark.proves("use_backend", "emulator")


@pytest.fixture
def library(side):
    made = cuda_api.load(side, "seam")
    made.code("api_last_error")
    return made


def test_names_beyond_cudas_own(library):
    assert library.raw.seam_name().decode() == {"cuda": "cuda", "emulator": "emulator"}[library.side]
    assert library.code("seam_emulated") == (library.side == "emulator")
    assert (
        library.code("seam_memory_is_host")
        == library.code("seam_wait_can_be_interrupted")
        == (library.side == "emulator")
    )
    if library.side == "cuda":
        assert library.code("seam_configure", b"order", b"fixed") == 801  # cudaErrorNotSupported
        assert library.detail() == ""
    else:
        assert library.code("seam_configure", b"order", b"sideways") == INVALID_VALUE
        assert "reversed" in library.detail()


@pytest.mark.parametrize(
    "code, name",
    [
        (0, "cudaSuccess"),
        (1, "cudaErrorInvalidValue"),
        (2, "cudaErrorMemoryAllocation"),
        (9, "cudaErrorInvalidConfiguration"),
        (35, "cudaErrorInsufficientDriver"),
        (100, "cudaErrorNoDevice"),
        (101, "cudaErrorInvalidDevice"),
        (400, "cudaErrorInvalidResourceHandle"),
        (600, "cudaErrorNotReady"),
        (701, "cudaErrorLaunchOutOfResources"),
        (719, "cudaErrorLaunchFailure"),
        (720, "cudaErrorCooperativeLaunchTooLarge"),
        (801, "cudaErrorNotSupported"),
        (999, "cudaErrorUnknown"),
    ],
)
def test_codes_have_cudas_names(library, code, name):
    assert library.raw.api_error_name(code).decode() == name
    assert len(library.raw.api_error_string(code).decode()) > 5
    assert library.raw.api_error_name(123456).decode() == "unrecognized error code"


def test_devices(library):
    count = library.value("api_device_count", ctypes.c_int)
    assert count >= 1
    assert library.value("api_get_device", ctypes.c_int) == 0
    for wrong in (-1, count):
        assert library.code("api_set_device", wrong) == INVALID_DEVICE
        assert library.code("api_last_error") == INVALID_DEVICE
    library.check("api_set_device", 0)
    driver, runtime = ctypes.c_int(), ctypes.c_int()
    library.check("api_versions", ctypes.byref(driver), ctypes.byref(runtime))
    assert runtime.value >= 12040
    assert driver.value >= runtime.value // 1000 * 1000


def test_errors_stay_until_asked_for(library):
    library.code("api_set_device", -1)
    assert library.code("api_peek_error") == INVALID_DEVICE
    assert library.code("api_peek_error") == INVALID_DEVICE
    assert library.code("api_last_error") == INVALID_DEVICE
    assert library.code("api_last_error") == 0
    library.check("api_set_device", 0)


def test_properties_and_attributes_agree(library):
    numbers, sizes = (ctypes.c_int * 12)(), (size * 3)()
    library.check("properties", 0, numbers, sizes)
    attribute = lambda code: library.value("api_attribute", ctypes.c_int, code, 0)  # noqa: E731
    assert numbers[0] == attribute(75)  # compute capability, major
    assert numbers[1] == attribute(76)
    assert numbers[2] == attribute(16) > 0  # multiprocessors
    assert numbers[3] == attribute(10) == 32
    assert numbers[4] == attribute(1) == 1024
    assert numbers[5] == attribute(39)
    assert list(numbers[6:9]) == [attribute(code) for code in (2, 3, 4)] == [1024, 1024, 64]
    assert list(numbers[9:12]) == [attribute(code) for code in (5, 6, 7)] == [2**31 - 1, 65535, 65535]
    assert sizes[1] == attribute(8) == 49152
    assert sizes[2] == attribute(97) >= 49152
    assert attribute(95) == 1  # cooperative launches
    assert attribute(115) == 1  # memory pools
    p = native(library.side).device_properties(0)
    assert (p["multiprocessors"], p["capability"]) == (numbers[2], (numbers[0], numbers[1]))
    assert p["memory_bytes"] == sizes[0]
    assert p["shared_per_block_optin"] == sizes[2]
    place = ctypes.c_int()
    assert library.code("api_attribute", ctypes.byref(place), 10, 99) == INVALID_DEVICE
    library.code("api_last_error")


def test_what_device_query_tells_is_what_properties_have(library):
    """Each attribute's number is CUDA's, and Python has it under its name."""
    numbers = (ctypes.c_int * 19)()
    library.check("texture_properties", 0, numbers)
    codes = (21, 22, 23, 24, 25, 26, 42, 43, 27, 28, 29, 14, 51, 30, 11, 111, 19, 90, 35)
    assert [library.value("api_attribute", ctypes.c_int, code, 0) for code in codes] == list(numbers)
    p = native(library.side).device_properties(0)
    assert p["texture_1d"] == numbers[0] >= 65536
    assert p["texture_2d"] == tuple(numbers[1:3])
    assert p["texture_3d"] == tuple(numbers[3:6])
    assert p["texture_1d_layered"] == tuple(numbers[6:8])
    assert p["texture_2d_layered"] == tuple(numbers[8:11])
    names = ("texture_alignment", "texture_pitch_alignment", "surface_alignment", "max_pitch", "shared_reserved")
    assert [p[name] for name in names] == list(numbers[11:16])
    assert all(size > 0 for size in numbers[:15])
    flags = ("maps_host_memory", "compute_preemption", "tcc_driver")
    assert [p[name] for name in flags] == [bool(number) for number in numbers[16:]]
    assert p["maps_host_memory"] is True
    assert p["copies_overlap"] is bool(library.value("api_attribute", ctypes.c_int, 15, 0)) is True
    assert p["kernel_timeout"] is bool(library.value("api_attribute", ctypes.c_int, 17, 0))


def test_memory(library):
    available, total = size(), size()
    library.check("api_memory_info", ctypes.byref(available), ctypes.byref(total))
    assert 0 < available.value <= total.value
    big = 64 << 20
    pointer = ctypes.c_void_p(library.value("api_malloc", ctypes.c_void_p, size(big)))
    assert pointer.value % 256 == 0
    left = size()
    library.check("api_memory_info", ctypes.byref(left), ctypes.byref(total))
    if library.side == "emulator":  # others use a GPU too
        assert available.value - big - (1 << 20) <= left.value <= available.value - big
    library.check("api_free", pointer)
    assert library.code("api_free", None) == 0
    assert not library.value("api_malloc", ctypes.c_void_p, size(0))
    place = ctypes.c_void_p()
    assert library.code("api_malloc", ctypes.byref(place), size(1 << 50)) == OUT_OF_MEMORY
    assert library.code("api_last_error") == OUT_OF_MEMORY
    inside = ctypes.c_void_p(library.value("api_malloc", ctypes.c_void_p, size(1024)))
    assert library.code("api_free", ctypes.c_void_p(inside.value + 16)) == INVALID_VALUE
    library.code("api_last_error")
    library.check("api_free", inside)


def test_all_modules_of_a_process_see_one_memory(library):
    """A user's library and the package's own module: one device, one memory."""
    for _ in range(1 if library.side == "emulator" else 20):  # others use a GPU too, and may give memory back
        before = native(library.side).device_properties(0)["memory_free"]
        pointer = ctypes.c_void_p(library.value("api_malloc", ctypes.c_void_p, size(256 << 20)))
        after = native(library.side).device_properties(0)["memory_free"]
        library.check("api_free", pointer)
        if before - after >= 200 << 20:
            return
    raise AssertionError(f"{before} bytes free before, {after} after")


@pytest.mark.parametrize("side", ["emulator"])
def test_misuse_of_memory_is_an_error_and_no_crash(library):
    pointer = ctypes.c_void_p(library.value("api_malloc", ctypes.c_void_p, size(1024)))
    host = np.zeros(4096, np.uint8)
    at = ctypes.c_void_p(host.ctypes.data)
    assert library.code("api_copy", pointer, at, size(4096), DEFAULT) == INVALID_VALUE  # beyond the allocation
    library.check("api_free", pointer)
    assert library.code("api_free", pointer) == INVALID_VALUE  # twice
    assert library.code("api_free", at) == INVALID_VALUE  # not the device's
    library.code("api_last_error")


def where(library, address):
    """(kind, device, address on the device, address on the host) of a pointer."""
    kind, device, on_device, on_host = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    places = [ctypes.byref(place) for place in (kind, device, on_device, on_host)]
    library.check("api_pointer", ctypes.c_void_p(address), *places)
    return kind.value, device.value, on_device.value, on_host.value


def test_pointers_know_where_they_are(library):
    buffer, plain = library.buffer(np.zeros(8)), np.zeros(1 << 16, np.uint8)
    at = buffer.address.value
    assert where(library, at) == (2, 0, at, None)  # cudaMemoryTypeDevice
    assert where(library, at + 40) == (2, 0, at + 40, None)
    for flags in (0, 1, 2):  # cudaHostAllocDefault, Portable, Mapped
        pinned = library.value("api_host_alloc", ctypes.c_void_p, size(64), ctypes.c_uint(flags))
        assert where(library, pinned + 8) == (1, 0, pinned + 8, pinned + 8)  # cudaMemoryTypeHost
        library.check("api_free_host", ctypes.c_void_p(pinned))
    own = -(-plain.ctypes.data // 4096) * 4096
    nowhere = where(library, own)
    assert nowhere[0] == 0  # cudaMemoryTypeUnregistered
    assert nowhere[1] < 0
    library.check("api_host_register", ctypes.c_void_p(own), size(4096), ctypes.c_uint(1))
    assert where(library, own) == (1, 0, own, own)
    library.check("api_host_unregister", ctypes.c_void_p(own))
    assert where(library, own) == nowhere


def test_pinned_memory_has_an_address_on_the_device(library):
    pinned = library.value("api_host_alloc", ctypes.c_void_p, size(64), ctypes.c_uint(1))
    asked = ctypes.c_void_p(pinned)
    assert library.value("api_host_device_pointer", ctypes.c_void_p, asked, ctypes.c_uint(0)) == pinned
    place, plain = ctypes.c_void_p(), np.zeros(64)
    other = ctypes.c_void_p(plain.ctypes.data)
    assert library.code("api_host_device_pointer", ctypes.byref(place), other, ctypes.c_uint(0)) == INVALID_VALUE
    assert library.code("api_host_device_pointer", ctypes.byref(place), asked, ctypes.c_uint(9)) == INVALID_VALUE
    assert library.code("api_last_error") == INVALID_VALUE
    library.check("api_free_host", asked)


def test_a_device_is_not_its_own_peer(library):
    count = library.value("api_device_count", ctypes.c_int)
    assert library.value("api_can_access_peer", ctypes.c_int, 0, 0) == 0
    place = ctypes.c_int()
    for pair in ((0, count), (-1, 0)):
        assert library.code("api_can_access_peer", ctypes.byref(place), *pair) == INVALID_DEVICE
    assert library.code("api_enable_peer", count, ctypes.c_uint(0)) == INVALID_DEVICE
    assert library.code("api_last_error") == INVALID_DEVICE
    assert library.code("api_enable_peer", 0, ctypes.c_uint(0)) == PEER_ACCESS_UNSUPPORTED
    assert library.code("api_last_error") == PEER_ACCESS_UNSUPPORTED


def test_copies_between_peers_name_their_devices(library):
    """Here on one device, which is allowed; tests/test_streams.py has those between devices."""
    given = np.arange(100, dtype=np.int32)
    one, two = library.buffer(given), library.buffer(np.zeros_like(given))
    library.check("api_copy_peer", two, 0, one.address, 0, size(400))
    assert np.array_equal(two.get(), given)
    library.check("api_set", two, 0, size(400))
    library.check("api_copy_peer_async", two, 0, one.address, 0, size(200), None)
    library.check("api_synchronize")
    assert np.array_equal(two.get(), np.where(np.arange(100) < 50, given, 0))
    assert library.code("api_copy_peer", two, 0, one.address, 99, size(400)) == INVALID_DEVICE
    assert library.code("api_copy_peer_async", two, -1, one.address, 0, size(400), None) == INVALID_DEVICE
    assert library.code("api_last_error") == INVALID_DEVICE


def test_pools(library):
    stream = library.stream()
    for bytes_ in (1, 1000, 1 << 20):
        library.check("pool_round", size(bytes_), stream)
    library.check("api_stream_destroy", stream)


def test_bit_functions(library):
    draw = np.random.default_rng(1)
    few = np.array([0, 1, 2**31, 2**32 - 1, 0x00F0, 12345], np.uint32)
    small = np.concatenate([few, draw.integers(0, 2**32, 58, dtype=np.uint32)])
    wide = np.concatenate([few.astype(np.uint64) << np.uint64(31), draw.integers(0, 2**64, 58, dtype=np.uint64)])
    out = library.buffer(np.zeros((64, 7), np.int64))
    library.launch("run_bits", library.buffer(small), library.buffer(wide), out, block=64)
    first = lambda x: (x & -x).bit_length()  # noqa: E731
    expected = [
        [
            x.bit_count(),
            first(x),
            32 - x.bit_length(),
            int(f"{x:032b}"[::-1], 2),
            y.bit_count(),
            first(y),
            64 - y.bit_length(),
        ]
        for x, y in zip(small.tolist(), wide.tolist(), strict=True)
    ]
    assert out.get().tolist() == expected


def test_float_functions(library):
    draw = np.random.default_rng(2)
    a, b, c = (draw.standard_normal(128).astype(np.float32) for _ in range(3))
    a[:2] = np.nan, 1 + 2**-12
    b[1], c[1] = 1 + 2**-12, -(1 + 2**-11)  # here a fused product differs: 2**-24 against 0
    out = library.buffer(np.zeros((128, 6), np.float32))
    library.launch("run_floats", *map(library.buffer, (a, b, c)), out, block=128)
    got = out.get()
    fused = (a.astype(np.float64) * b + c).astype(np.float32)  # the product is exact in double
    assert np.array_equal(got[:, 0], got[:, 1], equal_nan=True)
    assert np.allclose(got[:, 0], fused, rtol=1.3e-7, equal_nan=True)
    assert got[1, 0] == np.float32(2**-24)
    assert np.array_equal(got[:, 2], a * b + c, equal_nan=True)
    assert got[1, 2] == 0
    assert np.array_equal(got[:, 3], a, equal_nan=True)
    assert np.array_equal(got[:, 4], np.fmin(a, b))  # the number, if the other is NaN
    assert np.array_equal(got[:, 5], np.fmax(a, b))
    x, y, z = (np.array(value, np.float64) for value in ([1 + 2**-30], [1 + 2**-30], [-(1 + 2**-29)]))
    wide = library.buffer(np.zeros(1))
    library.launch("run_doubles", *map(library.buffer, (x, y, z)), wide, block=1)
    assert wide.get()[0] == 2.0**-60


def test_vector_types(library):
    given = np.random.default_rng(3).random((40, 4)).astype(np.float32)
    out, sizes = library.buffer(np.zeros_like(given)), library.buffer(np.zeros(12, np.int32))
    library.launch("run_vectors", library.buffer(given), out, sizes, block=40)
    assert np.array_equal(out.get(), given[:, ::-1])
    assert sizes.get().tolist() == [8, 8, 12, 4, 16, 16, 16, 16, 16, 16, 12, 4]


def test_arguments_of_all_sizes(library):
    out = library.buffer(np.zeros(7))
    library.launch("run_arguments", library.buffer(np.array([42], np.int32)), out)
    assert out.get().tolist() == [-3, 0.125, 7, 2.5, 5, 42, 2.0**40]


def test_dynamic_shared_memory_up_to_the_limits(library):
    out = library.buffer(np.zeros(2, np.int32))
    optin = native(library.side).device_properties(0)["shared_per_block_optin"]
    for bytes_ in (1, 1000, 49152):
        library.launch("run_shared_bytes", bytes_, out, block=64, shared=bytes_)
        assert out.get().tolist() == [bytes_, 0]
    library.check("allow_shared_bytes", optin)
    library.launch("run_shared_bytes", optin, out, block=64, shared=optin)
    assert out.get().tolist() == [optin, 0]
    assert library.code("allow_shared_bytes", optin + 1) == INVALID_VALUE
    library.code("api_last_error")
    with pytest.raises(cuda_api.CudaFailure) as caught:
        library.launch("run_shared_bytes", 1, out, block=64, shared=optin + 1)
    assert caught.value.code == INVALID_VALUE
    library.code("api_last_error")
    library.check("allow_shared_bytes", 49152)


def test_occupancy(library):
    def blocks(threads, shared):
        return library.value("shared_bytes_occupancy", ctypes.c_int, threads, size(shared))

    p = native(library.side).device_properties(0)
    assert 1 <= blocks(1024, 0) <= p["max_threads_per_multiprocessor"] // 1024
    assert blocks(64, 40000) >= 1
    assert blocks(64, 49152) >= 1
    assert blocks(64, 49153) == 0  # without the kernel's consent to more
    library.check("allow_shared_bytes", p["shared_per_block_optin"])
    assert blocks(64, p["shared_per_block_optin"]) == 1
    assert blocks(64, p["shared_per_block_optin"] + 1) == 0
    library.check("allow_shared_bytes", 49152)
    if library.side == "cuda":  # an emulated multiprocessor holds what this computer can keep resident
        assert blocks(64, 0) > blocks(1024, 0)
        assert blocks(64, 40000) < blocks(64, 0)


def test_potential_block_size(library):
    """Of all sizes of whole warps the one with most threads resident, the largest of those; and a grid that fills."""

    def potential(shared, limit):
        sizes = (ctypes.c_int * 2)()
        library.check("shared_bytes_potential", sizes, size(shared), limit)
        return tuple(sizes)

    def blocks(threads, shared):
        return library.value("shared_bytes_occupancy", ctypes.c_int, threads, size(shared))

    multiprocessors = native(library.side).device_properties(0)["multiprocessors"]
    for shared, limit in ((0, 0), (0, 256), (0, 100), (20000, 0), (40000, 512)):
        grid, threads = potential(shared, limit)
        most = limit or 1024
        resident = {t: t * blocks(t, shared) for t in {min(t, most) for t in range(32, most + 32, 32)}}
        assert threads * blocks(threads, shared) == max(resident.values())
        assert threads == max(t for t, count in resident.items() if count == max(resident.values()))
        assert grid == blocks(threads, shared) * multiprocessors


def test_shared_memory_that_is_left(library):
    """With as much dynamic shared memory as it says, so many blocks fit; with a piece more they do not."""
    library.check("allow_shared_bytes", native(library.side).device_properties(0)["shared_per_block_optin"])
    for count, threads in ((1, 64), (2, 64), (3, 128), (6, 32)):
        left = library.value("shared_bytes_available", size, count, threads)
        held = [library.value("shared_bytes_occupancy", ctypes.c_int, threads, size(left + more)) for more in (0, 1)]
        if library.side == "emulator":
            assert held[0] >= count > held[1]
        else:  # (an H200's runtime, 13.0, may say more than fits: two blocks' answer held one)
            assert count >= held[0] >= held[1] >= count - 1
    library.check("allow_shared_bytes", 49152)


def test_what_is_known_of_a_kernel(library):
    shared, threads, registers = size(), ctypes.c_int(), ctypes.c_int()
    library.check("static_tile_attributes", ctypes.byref(shared), ctypes.byref(threads), ctypes.byref(registers))
    assert 256 <= threads.value <= 1024
    assert registers.value >= 0
    if library.side == "cuda":
        assert shared.value == 4000
    name = library.value("static_tile_name", ctypes.c_char_p).decode()
    assert "static_tile" in name
    out = library.buffer(np.zeros(256, np.int32))
    library.launch("run_static_tile", out, block=256)
    assert out.get().tolist() == [1] * 256


def test_launch_limits(library):
    """The same codes on both sides; test_broken_kernels.py looks at the emulator's words."""
    out = library.buffer(np.zeros(2, np.int32))
    for shape, code in (
        ({"block": 1025}, 1),
        ({"block": (1, 1, 65)}, 1),
        ({"grid": (1, 65536)}, 1),
        ({"grid": 0}, 1),
        ({"block": 0}, 1),
        ({"shared": 10**7}, 1),
    ):
        with pytest.raises(cuda_api.CudaFailure) as caught:
            library.start("run_shared_bytes", 1, out, **{"grid": 1, "block": 1, "shared": 16} | shape)
        assert caught.value.code == code, shape
        assert library.code("api_last_error") == code
    library.launch("run_shared_bytes", 1, out, block=1, shared=16)
    assert out.get()[0] == 1
