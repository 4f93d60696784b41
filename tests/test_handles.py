"""Kernels by their handles: one library of kernels makes a cudaKernel_t, and another one uses it, on both sides."""

import _ctypes
import concurrent.futures
import ctypes
import os
import random
import subprocess
import textwrap
import threading

import numpy as np
import pytest

import cuda_api
import subprocesses
from cases import native
from cuda_api import TO_DEVICE, Shape

INVALID_VALUE, INVALID_DEVICE_FUNCTION, INVALID_KERNEL_IMAGE = 1, 98, 200
TOO_LARGE, NOT_SUPPORTED = 720, 801
MAX_DYNAMIC_SHARED = 8  # cudaFuncAttributeMaxDynamicSharedMemorySize
DEFAULT_SHARED = 49152
KERNELS = ("mixed", "scaled_2", "scaled_3", "store", "last_byte", "grid_sums", "nothing")
size = ctypes.c_size_t


@pytest.fixture
def library(side):
    """The library that has the kernels."""
    made = cuda_api.load(side, "handles")
    made.code("api_last_error")
    return made


@pytest.fixture
def other(side):
    """Another one, which has none of them."""
    return cuda_api.load(side, "seam")


def handle_and_address(library, kernel):
    handle, address = ctypes.c_void_p(), ctypes.c_void_p()
    library.check(f"handle_{kernel}", ctypes.byref(handle), ctypes.byref(address))
    return handle, address


def handle_of(library, kernel):
    return handle_and_address(library, kernel)[0]


def pointers(*values):
    """Pointers to arguments (ctypes' values, or buffers), which live as long as the array of pointers."""
    held = [value.address if isinstance(value, cuda_api.Buffer) else value for value in values]
    array = (ctypes.c_void_p * max(len(held), 1))(*map(ctypes.addressof, held))
    array.held = held
    return array


def launch(library, kernel, *values, stream=None, **shape):
    """Launches by handle or address, and waits."""
    library.launch("api_launch", kernel, pointers(*values), stream=stream, **shape)


def attributes(library, kernel):
    """(largest block, dynamic shared memory allowed)"""
    threads, dynamic = ctypes.c_int(), ctypes.c_int()
    library.check("api_function_attributes", kernel, ctypes.byref(threads), ctypes.byref(dynamic))
    return threads.value, dynamic.value


def zeros(library, count):
    return library.buffer(np.zeros(count, np.int32))


def stored(library, buffer):
    """What is in the buffer, after all that was launched."""
    library.check("api_synchronize")
    return buffer.get().tolist()


# --- which handles there are ---------------------------------------------------------------------------------------
def test_a_kernel_has_one_handle(library):
    found = {}
    for kernel in KERNELS:
        handle, address = handle_and_address(library, kernel)
        found[kernel] = handle.value
        assert handle_of(library, kernel).value == handle.value
        assert library.value("api_get_kernel", ctypes.c_void_p, address) == handle.value
    assert len({*found.values(), None}) == len(KERNELS) + 1  # template instantiations are different kernels


def test_a_function_that_is_no_kernel_has_none(library):
    plain = ctypes.cast(library.raw.api_free, ctypes.c_void_p)
    place = ctypes.c_void_p()
    assert library.code("api_get_kernel", ctypes.byref(place), plain) == INVALID_DEVICE_FUNCTION
    assert library.code("api_last_error") == INVALID_DEVICE_FUNCTION
    assert not place.value


# --- launches ------------------------------------------------------------------------------------------------------
def test_a_launch_by_handle_passes_parameters_of_all_sizes(library, other):
    out, number = library.buffer(np.zeros(9)), library.buffer(np.array([42], np.int32))
    odd, three = (ctypes.c_int8 * 5)(7, 0, 0, 0, -8), (ctypes.c_float * 3)(0.5, 1.5, 2.5)
    values = [ctypes.c_int8(-3), ctypes.c_double(0.125), odd, number, three, ctypes.c_short(-300), out]
    for who in (library, other):
        who.check("api_set", out, 0, size(out.bytes))
        launch(who, handle_of(library, "mixed"), *values)
        assert out.get().tolist() == [-3, 0.125, 7, -8, 42, 0.5, 1.5, 2.5, -300]


def test_parameters_lie_as_cuda_lays_them_out(library, other):
    handle = handle_of(library, "mixed")
    offset, bytes_ = size(), size()
    found = []
    for index in range(7):
        other.check("api_function_parameter", handle, size(index), ctypes.byref(offset), ctypes.byref(bytes_))
        found.append((offset.value, bytes_.value))
    assert found == [(0, 1), (8, 8), (16, 5), (24, 8), (32, 12), (44, 2), (48, 8)]
    for kernel, past in (("mixed", 7), ("mixed", 2**40), ("nothing", 0)):
        places = ctypes.byref(offset), ctypes.byref(bytes_)
        assert other.code("api_function_parameter", handle_of(library, kernel), size(past), *places) == INVALID_VALUE
        assert other.code("api_last_error") == INVALID_VALUE


def test_arguments_are_copied_before_the_launch_returns(library, other):
    out, stream = zeros(library, 500), other.stream()
    at, value = ctypes.c_int(), ctypes.c_int()
    given, store = pointers(out, at, value), handle_of(library, "store")
    for number in range(500):
        at.value, value.value = number, 3 * number
        other.start("api_launch", store, given, stream=stream)
    at.value = value.value = -1
    other.check("api_stream_synchronize", stream)
    assert out.get().tolist() == list(range(0, 1500, 3))
    other.check("api_stream_destroy", stream)


def test_all_ways_to_launch(library):
    out = zeros(library, 6)
    library.check("all_ways_to_store", out)
    assert stored(library, out) == [10, 10, 10, 10, 10, 0]


def test_a_kernel_without_parameters_needs_no_arguments(library, other):
    other.launch("api_launch", handle_of(library, "nothing"), None, grid=3, block=64)


def test_a_launch_by_handle_may_be_cooperative(library, other):
    given, out = zeros(library, 8), zeros(library, 8)
    launch(other, handle_of(library, "grid_sums"), given, out, grid=8, cooperative=True)
    assert out.get().tolist() == [36] * 8
    shape = Shape(cuda_api.three(2**30), cuda_api.three(32), 0, None, 1)
    code = other.code("api_launch", ctypes.byref(shape), handle_of(library, "grid_sums"), pointers(given, out))
    assert code == TOO_LARGE
    assert other.code("api_last_error") == TOO_LARGE


def test_limits_hold_for_launches_by_handle(library, other):
    handle, out = handle_of(library, "store"), zeros(library, 1)
    for shape in ({"block": 1025}, {"grid": 0}, {"grid": (1, 65536)}, {"shared": 10**7}):
        with pytest.raises(cuda_api.CudaFailure) as caught:
            launch(other, handle, out, ctypes.c_int(0), ctypes.c_int(1), **shape)
        assert caught.value.code == INVALID_VALUE, shape
        assert other.code("api_last_error") == INVALID_VALUE
        if other.side == "emulator":
            assert "kernel store:" in caught.value.detail
    assert stored(library, out) == [0]


# --- what is known of a kernel, and set for it ---------------------------------------------------------------------
def test_what_is_set_through_a_handle_is_seen_through_the_function(library, other):
    handle, out = handle_of(library, "last_byte"), zeros(library, 1)
    optin = native(library.side).device_properties(0)["shared_per_block_optin"]
    allowed = lambda: library.value("last_byte_allowed", ctypes.c_int)  # noqa: E731
    assert allowed() == attributes(other, handle)[1] == DEFAULT_SHARED
    other.check("api_function_set", handle, MAX_DYNAMIC_SHARED, optin)
    assert allowed() == attributes(other, handle)[1] == optin
    library.launch("run_last_byte", optin, out, shared=optin)
    assert out.get().tolist() == [77]
    library.check("allow_last_byte", 60000)
    assert allowed() == attributes(other, handle)[1] == 60000
    library.check("api_set", out, 0, size(4))
    launch(other, handle, ctypes.c_int(60000), out, shared=60000)
    assert out.get().tolist() == [77]
    with pytest.raises(cuda_api.CudaFailure) as caught:
        launch(other, handle, ctypes.c_int(60001), out, shared=60001)
    assert caught.value.code == INVALID_VALUE
    assert other.code("api_function_set", handle, MAX_DYNAMIC_SHARED, optin + 1) == INVALID_VALUE
    other.code("api_last_error")
    library.check("allow_last_byte", DEFAULT_SHARED)


def test_handle_and_function_give_the_same_answers(library, other):
    handle, address = handle_and_address(library, "last_byte")
    assert attributes(other, handle) == attributes(library, address)
    name = other.value("api_function_name", ctypes.c_char_p, handle)
    assert name == library.value("last_byte_name", ctypes.c_char_p)
    assert name == library.value("api_function_name", ctypes.c_char_p, address)
    assert name.startswith(b"_Z")  # the linker's name
    assert b"last_byte" in name

    def potential(who, kernel, shared, limit):
        sizes = (ctypes.c_int * 2)()
        who.check("api_occupancy_block", sizes, kernel, size(shared), limit)
        return tuple(sizes)

    for threads, shared in ((64, 0), (1024, 0), (64, 40000), (64, 49153)):
        blocks = other.value("api_occupancy", ctypes.c_int, handle, threads, size(shared))
        assert blocks == library.value("api_occupancy", ctypes.c_int, address, threads, size(shared))
        assert (blocks == 0) == (shared > DEFAULT_SHARED)
    for shared, limit in ((0, 0), (20000, 256)):
        assert potential(other, handle, shared, limit) == potential(library, address, shared, limit)
    for blocks, threads in ((1, 64), (2, 128)):
        left = other.value("api_occupancy_shared", size, handle, blocks, threads)
        assert left == library.value("api_occupancy_shared", size, address, blocks, threads)
        assert left > 0


def test_a_kernel_named_by_its_address_first(side, tmp_path):
    """What is set for it then is seen through its handle. On the emulator, an address tells no parameters."""
    (library,) = cuda_api.copies(side, "handles", tmp_path, 1)
    address = ctypes.c_void_p(library.value("address_of_named_by_address", ctypes.c_void_p))
    library.check("api_function_set", address, MAX_DYNAMIC_SHARED, 50000)
    out = zeros(library, 1)
    if side == "emulator":
        with pytest.raises(cuda_api.CudaFailure) as caught:
            launch(library, address, out)
        assert caught.value.code == INVALID_DEVICE_FUNCTION
        assert "named_by_address are unknown" in caught.value.detail
        assert "cudaGetKernel" in caught.value.detail
        place = ctypes.c_void_p()
        assert library.code("api_get_kernel", ctypes.byref(place), address) == INVALID_DEVICE_FUNCTION
    handle, same = handle_and_address(library, "named_by_address")
    assert same.value == address.value
    assert attributes(library, handle)[1] == attributes(library, address)[1] == 50000
    for kernel in (handle, address):
        library.check("api_set", out, 0, size(4))
        launch(library, kernel, out, shared=50000)
        assert out.get().tolist() == [5]
    library.code("api_last_error")


def test_a_symbol_is_filled_by_another_library(library, other):
    table = ctypes.c_void_p(library.value("table_address", ctypes.c_void_p))
    out, stream = zeros(library, 8), other.stream()
    given = np.array([1, 10, 100, 1000], np.int32)
    place = ctypes.c_void_p(given.ctypes.data)
    other.check("api_copy_async", table, place, size(given.nbytes), TO_DEVICE, stream)
    launch(other, handle_of(library, "scaled_3"), out, block=8, stream=stream)
    assert out.get().tolist() == [3000, 300, 30, 3] * 2
    other.check("api_stream_destroy", stream)


# --- many libraries ------------------------------------------------------------------------------------------------
def test_libraries_side_by_side_share_nothing(side, tmp_path, other):
    """Copies of one file: equal names of templates, of their shared memory and of variables in constant memory."""
    libraries = cuda_api.copies(side, "handles", tmp_path, 20)
    handles = [[handle_of(library, kernel) for kernel in KERNELS] for library in libraries]
    assert len({handle.value for row in handles for handle in row}) == len(libraries) * len(KERNELS)
    tables = [library.value("table_address", ctypes.c_void_p) for library in libraries]
    assert len(set(tables)) == len(libraries)
    for number, table in enumerate(tables):
        given = np.arange(4, dtype=np.int32) + 100 * number
        other.check("api_copy", ctypes.c_void_p(table), ctypes.c_void_p(given.ctypes.data), size(16), TO_DEVICE)
    out = zeros(other, 32)
    for number, library in enumerate(libraries):
        expected = [100 * number + 3 - at % 4 for at in range(32)]
        library.launch("run_scaled_2", out, block=32)
        assert out.get().tolist() == [2 * value for value in expected]
        launch(other, handles[number][KERNELS.index("scaled_3")], out, block=32)
        assert out.get().tolist() == [3 * value for value in expected]
    one, two = handles[0][KERNELS.index("last_byte")], handles[1][KERNELS.index("last_byte")]
    other.check("api_function_set", one, MAX_DYNAMIC_SHARED, 50000)
    assert [attributes(other, kernel)[1] for kernel in (one, two)] == [50000, DEFAULT_SHARED]


def test_threads_find_the_same_handles(side, tmp_path, other):
    """Kernels of many libraries become known while other threads look for them and launch."""
    libraries = cuda_api.copies(side, "handles", tmp_path, 12)
    threads = 8
    start, out = threading.Barrier(threads), zeros(other, threads * len(libraries))

    def work(thread):
        draw, found = random.Random(thread), {}
        order = [(number, kernel) for number in range(len(libraries)) for kernel in KERNELS]
        draw.shuffle(order)
        start.wait()
        for number, kernel in order:
            handle = handle_of(libraries[number], kernel)
            found[number, kernel] = handle.value
            if kernel == "store":
                at = thread * len(libraries) + number
                given = pointers(out, ctypes.c_int(at), ctypes.c_int(at + 1))
                other.start("api_launch", handle, given)
        return found

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(work, range(threads)))
    assert all(each == found[0] for each in found)
    assert len(set(found[0].values())) == len(libraries) * len(KERNELS)
    assert stored(other, out) == list(range(1, threads * len(libraries) + 1))


# --- the emulator's own promises -----------------------------------------------------------------------------------
@pytest.mark.parametrize("side", ["emulator"])
def test_what_is_no_kernel_is_refused(library, other):
    """On a GPU what is no host function is taken for a handle, and followed."""
    heap = ctypes.create_string_buffer(256)
    offset, out = size(), zeros(library, 1)
    place = ctypes.byref(offset)
    handle = handle_of(library, "store").value
    for wrong in (None, 16, 1, ctypes.addressof(heap), out.address.value, handle + 8, handle - 16):
        kernel = ctypes.c_void_p(wrong)
        for call, *rest in (
            ("api_get_kernel", place, kernel),
            ("api_launch", ctypes.byref(Shape(cuda_api.three(1), cuda_api.three(1), 0, None, 0)), kernel, None),
            ("api_function_set", kernel, MAX_DYNAMIC_SHARED, 1000),
            ("api_function_attributes", kernel, place, place),
            ("api_function_name", place, kernel),
            ("api_function_parameter", kernel, size(0), place, place),
            ("api_occupancy", place, kernel, 64, size(0)),
            ("api_occupancy_block", place, kernel, size(0), 0),
            ("api_occupancy_shared", place, kernel, 1, 64),
        ):
            assert other.code(call, *rest) == INVALID_DEVICE_FUNCTION, (wrong, call)
            assert other.code("api_last_error") == INVALID_DEVICE_FUNCTION
            words = "the kernel is NULL" if wrong is None else "is neither a kernel handle nor a function"
            assert words in other.detail()
    plain = ctypes.cast(library.raw.api_free, ctypes.c_void_p)
    assert other.code("api_function_parameter", plain, size(0), place, place) == INVALID_DEVICE_FUNCTION
    assert "the parameters of api_free are unknown" in other.detail()
    other.code("api_last_error")


@pytest.mark.parametrize("side", ["emulator"])
def test_launches_that_lack_something_are_refused(library, other):
    shape = ctypes.byref(Shape(cuda_api.three(1), cuda_api.three(1), 0, None, 0))
    store, out = handle_of(library, "store"), zeros(library, 1)
    for given in (None, (ctypes.c_void_p * 3)(ctypes.addressof(out.address), None, None)):
        assert other.code("api_launch", shape, store, given) == INVALID_VALUE
        missing = 0 if given is None else 1
        assert f"kernel store: the pointer to argument {missing} of 3 is NULL" in other.detail()
    assert library.code("launch_without_configuration", store) == INVALID_VALUE
    assert "the pointer to the configuration is NULL" in other.detail()
    assert library.code("api_get_kernel", None, store) == INVALID_VALUE
    for places in ((None, ctypes.byref(size())), (ctypes.byref(size()), None)):
        assert other.code("api_function_parameter", store, size(0), *places) == INVALID_VALUE
    assert other.code("api_last_error") == INVALID_VALUE
    assert stored(library, out) == [0]


def test_a_library_built_for_another_version_is_told_so():
    """The version comes first in what a library hands to the core, in every version of the interface."""
    core = ctypes.CDLL(str(cuda_api.PACKAGE / "lib" / "libcudakern_emulator.so"))
    place, words = ctypes.c_void_p(), ctypes.create_string_buffer(300)
    old = (ctypes.c_uint32 * 64)(2)
    unknown = ctypes.cast(core.emu_last_error, ctypes.c_void_p)
    for code in (core.emu_launch_kernel(old), core.emu_get_kernel(ctypes.byref(place), unknown, old)):
        assert code == INVALID_KERNEL_IMAGE
        core.emu_error_detail(words, size(300))
        assert b"against version 2 of the emulator's interface" in words.value
    assert core.emu_last_error(1) == INVALID_KERNEL_IMAGE


@pytest.mark.parametrize("side", ["emulator"])
def test_a_handle_outlives_the_closing_of_its_library(side, tmp_path, other):
    first, second = cuda_api.copies(side, "handles", tmp_path, 2)
    store, out = handle_of(first, "store"), zeros(other, 2)
    _ctypes.dlclose(first.raw._handle)
    for at, kernel in enumerate((store, handle_of(second, "store"))):
        launch(other, kernel, out, ctypes.c_int(at), ctypes.c_int(7 + at))
    assert out.get().tolist() == [7, 8]


@pytest.mark.parametrize("side", ["emulator"])
def test_the_c_header_launches_by_handle(library, tmp_path):
    """As a program in C does: cudaLaunchConfig_t and its attributes in C."""
    source, built = tmp_path / "launch.c", tmp_path / "launch.so"
    source.write_text(
        textwrap.dedent("""
        #include <cuda_runtime_api.h>
        int launch(cudaKernel_t kernel, void **arguments, int blocks, int cooperative) {
            cudaLaunchConfig_t config = {0};
            cudaLaunchAttribute attribute;
            attribute.id = cudaLaunchAttributeCooperative;
            attribute.val.cooperative = cooperative;
            config.gridDim.x = (unsigned)blocks;
            config.gridDim.y = config.gridDim.z = config.blockDim.x = config.blockDim.y = config.blockDim.z = 1;
            config.attrs = &attribute;
            config.numAttrs = 1;
            cudaError_t code = cudaLaunchKernelExC(&config, (const void *)kernel, arguments);
            return code != cudaSuccess ? (int)code : (int)cudaDeviceSynchronize();
        }
        """)
    )
    folder = cuda_api.PACKAGE / "lib"
    line = [os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    line += [*cuda_api.HEADERS, str(source), "-o", str(built)]
    line += [f"-L{folder}", "-lcudakern_emulator", f"-Wl,-rpath,{folder}"]
    subprocess.run(line, check=True)
    given, out = zeros(library, 4), zeros(library, 4)
    code = ctypes.CDLL(str(built)).launch(handle_of(library, "grid_sums"), pointers(given, out), 4, 1)
    assert code == 0, library.detail()
    assert out.get().tolist() == [10] * 4


def test_handles_in_a_child_of_a_fork(tmp_path):
    """The child has the handles and what was set, and makes new ones, whatever the parent's threads were about."""
    output = subprocesses.run(
        f"""
        import os, pathlib, threading
        import cuda_api, test_handles as t

        library, other = cuda_api.load("emulator", "handles"), cuda_api.load("emulator", "seam")
        copies = cuda_api.copies("emulator", "handles", pathlib.Path({str(tmp_path)!r}), 30)
        handle = t.handle_of(library, "last_byte")
        other.check("api_function_set", handle, t.MAX_DYNAMIC_SHARED, 50000)

        def look():
            for each in copies:
                for kernel in t.KERNELS:
                    t.handle_of(each, kernel)

        thread = threading.Thread(target=look)
        thread.start()
        for number in range(15):
            child = os.fork()
            if not child:
                assert t.handle_of(library, "last_byte").value == handle.value
                out = t.zeros(other, 1)
                t.launch(other, handle, t.ctypes.c_int(50000), out, shared=50000)
                assert out.get().tolist() == [77]
                store = t.handle_of(copies[-1 - number], "store")
                t.launch(other, store, out, t.ctypes.c_int(0), t.ctypes.c_int(number))
                assert out.get().tolist() == [number]
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        thread.join()
        print("right")
        """
    )
    assert output == "right\n"
