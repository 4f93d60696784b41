"""The emulator's table of events: a tool (events/log.cpp) subscribes, and kernels of every kind are run."""

import collections
import ctypes
import itertools
import os
import shutil
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import cuda_api
import cudakern
from cases import ORDERS

HERE = cuda_api.HERE / "events"
NOT_PERMITTED, INVALID_VALUE, LAUNCH_FAILURE = 800, 1, 719


class Event:
    """A line of the log: its fields are attributes, integers where they look like some."""

    def __init__(self, line):
        self.name, *fields = line.split()
        for field in fields:
            key, value = field.split("=", 1)
            setattr(self, key + "_" * (key == "name"), int(value) if value.lstrip("-").isdigit() else value)

    @property
    def range(self):
        return range(self.address, self.address + self.bytes)


class Tool:
    def __init__(self, path):
        ctypes.CDLL(str(cuda_api.CORE))
        self.raw = ctypes.CDLL(str(path))
        self.raw.log_text.restype = ctypes.c_char_p

    def events(self):
        return [Event(line) for line in self.raw.log_text().decode().splitlines()]

    def watch(self, run, skipped_block=-1, failing_thread=-1, yields=0, one_at_a_time=0):
        """The events while `run` is called, by name."""
        assert self.raw.log_begin(skipped_block, failing_thread, yields, one_at_a_time) == 0
        try:
            run()
        finally:
            assert self.raw.log_end() == 0
        events = self.events()
        by_name = collections.defaultdict(list)
        for event in events:
            by_name[event.name].append(event)
        by_name["all"] = [event for event in events if event.name != "order"]
        return by_name


def compile(*words):
    run = subprocess.run([os.environ.get("CXX", "c++"), *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="session")
def tool(tmp_path_factory):
    """An ordinary library that uses the installed headers and the core."""
    target = tmp_path_factory.mktemp("events") / "log.so"
    flags = ["-std=c++17", "-g1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", *cuda_api.HEADERS]
    compile(*flags, HERE / "log.cpp", "-o", target, f"-L{cuda_api.CORE.parent}", "-lcudakern_emulator")
    return Tool(target)


@pytest.fixture(scope="session")
def reported(tmp_path_factory):
    """The kernels of events/reported.cu, with a user's flags, instrumented; the sanitizer's own library is left out."""
    folder = tmp_path_factory.mktemp("events")
    code, target = folder / "reported.o", folder / "reported.so"
    flags = cudakern.emulator.compile_flags(os.environ.get("CXX", "c++"))
    includes = [f"-I{cuda_api.SOURCES}", f"-I{cuda_api.ROOT / 'csrc'}"]
    once = [flag for flag in flags if flag != "-shared"]
    reports = ["-DEMULATOR_REPORTS", "-g1", "-O1", "-fsanitize=thread"]
    compile("-c", "-x", "c++", HERE / "reported.cu", "-o", code, *once, *includes, *reports)
    compile(code, "-o", target, *(flag for flag in flags if flag not in ("-x", "c++")))
    library = cuda_api.Library("emulator", "blocks", target)
    library.source = HERE / "reported.cu"
    return library


def source_line(library, event):
    """The text of the line that the event names."""
    assert event.file == library.source.name
    return library.source.read_text().splitlines()[event.line - 1]


def ranges(events):
    """All addresses of the events' ranges."""
    return set(itertools.chain.from_iterable(event.range for event in events))


def addresses(buffer):
    return set(range(buffer.address.value, buffer.address.value + buffer.bytes))


# --- launches, blocks, threads, barriers -----------------------------------------------------------------------------
@pytest.mark.parametrize("order_name", ORDERS)
def test_a_launch_from_begin_to_end(tool, order, order_name):
    order(order_name)
    library = cuda_api.load("emulator", "blocks")
    out = library.buffer(np.zeros(5 * 64, np.int32))
    events = tool.watch(lambda: library.launch("run_reverse", out, 3, grid=5, block=64))
    (begin,), (end,) = events["launch_begin"], events["launch_end"]
    assert (begin.kernel, begin.grid, begin.block, begin.cluster, begin.parameters) == ("reverse", 5, 64, 1, 2)
    assert (end.launch, end.code, end.own) == (begin.launch, 0, 1)
    assert events["all"][0] is begin
    assert events["all"][-1] is end
    assert sorted(e.block for e in events["block_begin"]) == list(range(5))
    assert all(e.own == e.complete == 1 for e in events["block_end"])
    gone = range(0, 64, 3)  # these threads return before the barrier
    for block in range(5):
        own = [e for e in events["all"] if getattr(e, "block", None) == block and e is not begin]
        assert [own[0].name, own[-1].name] == ["block_begin", "block_end"]
        for name in ("thread_begin", "thread_end"):
            assert sorted(e.thread for e in own if e.name == name) == list(range(64))
        barriers = [e for e in own if e.name == "barrier"]
        assert {e.kind for e in barriers} == {"sync"}
        stages = [e.stage for e in barriers]
        assert stages == ["arrives"] * 42 + ["opens"] + ["leaves"] * 42
        assert "__syncthreads" in source_line(library, barriers[0])
        for stage in ("arrives", "leaves"):
            assert sorted(e.thread for e in barriers if e.stage == stage) == sorted(set(range(64)) - set(gone))
        assert [e.thread for e in barriers if e.stage == "opens"] == [-1]
    assert {e.launch for e in events["barrier"]} == {begin.launch}


def test_without_the_tool_nothing_is_reported(tool):
    library = cuda_api.load("emulator", "blocks")
    out = library.buffer(np.zeros(64, np.int32))
    tool.watch(lambda: library.launch("run_reverse", out, 0, block=64))
    before = tool.raw.log_text()
    library.launch("run_reverse", out, 0, block=64)
    assert tool.raw.log_text() == before


def test_a_block_that_the_tool_does_not_want(tool):
    library = cuda_api.load("emulator", "blocks")
    out = library.buffer(np.zeros(3 * 64, np.int32))
    events = tool.watch(lambda: library.launch("run_reverse", out, 0, grid=3, block=64), skipped_block=1)
    assert {e.block for e in events["barrier"]} == {e.block for e in events["thread_end"]} == {0, 2}
    assert {e.block for e in events["block_end"]} == {0, 1, 2}
    np.testing.assert_array_equal(out.get().reshape(3, 64), 3 * np.arange(64)[::-1] + np.arange(3)[:, None])


def test_a_kernel_that_fails(tool):
    """The block ends incomplete, and the launch with the code; the next launch is reported in full."""
    library = cuda_api.load("emulator", "broken")
    out = library.buffer(np.zeros(1024, np.int32))

    def fail():
        with pytest.raises(cuda_api.CudaFailure):
            library.launch("run_half_skips", out, block=64)

    events = tool.watch(fail)
    assert [e.code for e in events["launch_end"]] == [LAUNCH_FAILURE]
    assert [e.complete for e in events["block_end"]] == [0]
    assert len(events["thread_end"]) < 64
    (failure,) = events["failure"]
    assert (failure.kind, failure.code, failure.grid, failure.block) == (0, LAUNCH_FAILURE, 1, 64)
    assert "kernel_half_skips" in failure.message
    events = tool.watch(lambda: library.launch("run_sound", out, block=256))
    assert len(events["thread_end"]) == 256


def stages(events):
    """By kind of barrier: how often each stage was reported."""
    counts = collections.defaultdict(collections.Counter)
    for event in events["barrier"]:
        counts[event.kind][event.stage] += 1
    return counts


def test_every_arrival_at_a_barrier(tool):
    """Eight barriers of 64 threads, most of whose arrivals would take the quick path."""
    library = cuda_api.load("emulator", "async_copies")
    data, out = library.buffer(np.zeros((4, 64), np.float32)), library.buffer(np.zeros(64, np.float32))
    found = stages(tool.watch(lambda: library.launch("run_pipeline", data, 4, out, block=64)))
    assert found == {"sync": {"arrives": 8 * 64, "opens": 8, "leaves": 8 * 64}}


def test_votes_at_a_barrier(tool):
    library = cuda_api.load("emulator", "blocks")
    out = library.buffer(np.zeros(3 * 64, np.int32))
    votes = library.buffer(np.ones(64, np.int32))
    found = stages(tool.watch(lambda: library.launch("run_barrier_votes", votes, out, block=64)))
    once = {"arrives": 64, "opens": 1, "leaves": 64}
    assert found == {"count": once, "and": once, "or": once}


def test_numbered_barriers(tool):
    library = cuda_api.load("emulator", "hopper")
    out = library.buffer(np.zeros(20, np.int32))
    events = tool.watch(lambda: library.launch("run_turns_of_parts", out, block=128))
    assert stages(events)["part"] == {"arrives": 20 * 64 + 21 * 64, "opens": 20, "leaves": 20 * 64}
    assert {(e.number, e.count) for e in events["barrier"] if e.kind == "part"} == {(2, 128), (3, 128)}


def test_the_barrier_of_a_cluster(tool):
    library = cuda_api.load("emulator", "clusters")
    out = library.buffer(np.zeros(4, np.int32))
    events = tool.watch(lambda: library.launch("run_rounds", 3, out, grid=4, block=32, cluster=2))
    assert stages(events)["cluster"] == {"arrives": 5 * 128, "opens": 5 * 2, "leaves": 5 * 128}
    assert sorted((e.block, e.rank) for e in events["block_begin"]) == [(0, 0), (1, 1), (2, 0), (3, 1)]


def test_the_barrier_of_a_grid(tool):
    library = cuda_api.load("emulator", "groups")
    cells, out = library.buffer(np.zeros(64, np.int64)), library.buffer(np.zeros(64, np.int64))
    events = tool.watch(lambda: library.launch("run_grid_rounds", cells, out, 2, grid=2, block=32, cooperative=True))
    found = stages(events)["grid"]
    assert found["arrives"] == found["leaves"] == 32 * found["opens"] > 0
    assert {e.block for e in events["barrier"] if e.stage == "opens"} == {0, 1}


def is_in_turn(events):
    """Whether each block's events from block_begin to block_end are in one piece, and the blocks in their order."""
    blocks = [e.block for e in events["all"] if hasattr(e, "block") and e.name not in ("launch_begin", "launch_end")]
    return [block for block, _ in itertools.groupby(blocks)] == sorted(set(blocks))


def test_one_block_at_a_time(tool, reported):
    source, out = reported.buffer(np.arange(32, dtype=np.int32)), reported.buffer(np.zeros(64 * 32, np.int32))
    for yields in (0, 1):
        events = tool.watch(
            lambda: reported.launch("run_neighbors", source, out, grid=64, block=32), yields=yields, one_at_a_time=1
        )
        assert len(events["block_end"]) == 64
        assert is_in_turn(events)


def test_blocks_of_a_cooperative_grid_take_turns(tool):
    """From one barrier of the grid to the next, each block's events are in one piece, and the blocks in their order."""
    library = cuda_api.load("emulator", "groups")
    cells, out = library.buffer(np.zeros(8, np.int64)), library.buffer(np.zeros(8 * 32, np.int64))
    events = tool.watch(
        lambda: library.launch("run_grid_rounds", cells, out, 5, grid=8, block=32, cooperative=True), one_at_a_time=1
    )
    blocks = [e.block for e in events["all"] if hasattr(e, "block") and e.name not in ("launch_begin", "launch_end")]
    openings = len([e for e in events["barrier"] if e.kind == "grid" and e.stage == "opens"]) // 8
    turns = [block for block, _ in itertools.groupby(blocks)]
    assert openings == 2 * 5
    assert turns == [*range(8)] * (openings + 1)


def test_a_launch_that_began_before(tool, reported):
    """It is not reported; and who unsubscribes waits for the launches that are."""
    flags = ctypes.c_void_p()
    reported.check("api_malloc_host", ctypes.byref(flags), ctypes.c_size_t(8))
    begun, go = (ctypes.c_int * 2).from_address(flags.value), ctypes.c_void_p(flags.value + 4)

    def start():
        begun[0] = begun[1] = 0
        reported.start("run_meet_the_host", flags, go)
        while not begun[0]:
            time.sleep(0.001)

    def finish():
        begun[1] = 1
        reported.check("api_stream_synchronize", None)

    start()
    events = tool.watch(finish)
    assert not events["all"]
    assert tool.raw.log_begin(-1, -1, 0, 0) == 0
    start()
    unsubscribing = threading.Thread(target=tool.raw.log_end)
    unsubscribing.start()
    unsubscribing.join(0.2)
    assert unsubscribing.is_alive()
    finish()
    unsubscribing.join(60)
    assert not unsubscribing.is_alive()
    assert tool.events()[-1].name == "launch_end"
    reported.check("api_free_host", flags)


@pytest.mark.forks
def test_a_fork_while_a_launch_is_reported(tool, reported):
    """In the child, where the launch does not run, nothing waits for it."""
    flags = ctypes.c_void_p()
    reported.check("api_malloc_host", ctypes.byref(flags), ctypes.c_size_t(8))
    begun, go = (ctypes.c_int * 2).from_address(flags.value), ctypes.c_void_p(flags.value + 4)
    begun[0] = begun[1] = 0
    assert tool.raw.log_begin(-1, -1, 0, 0) == 0
    reported.start("run_meet_the_host", flags, go)
    while not begun[0]:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(tool.raw.log_end() or tool.raw.log_other(ctypes.c_size_t(8 * 14)))
    status = os.waitpid(child, 0)[1]
    begun[1] = 1
    reported.check("api_stream_synchronize", None)
    assert tool.raw.log_end() == 0
    reported.check("api_free_host", flags)
    assert status == 0


def test_subscribing(tool):
    """One tool at a time, with a table that this core knows."""
    size, older = 8 * 21, 8 * 14  # without fence, index, one_at_a_time, order, block_continue, ...
    assert tool.raw.log_other(ctypes.c_size_t(older)) == 0
    assert tool.raw.log_other_ends() == 0
    assert tool.raw.log_other(ctypes.c_size_t(size)) == 0
    assert tool.raw.log_begin(-1, -1, 0, 0) == NOT_PERMITTED
    assert tool.raw.log_end() == INVALID_VALUE
    assert tool.raw.log_other_ends() == 0
    assert tool.raw.log_other_ends() == INVALID_VALUE
    for wrong in (0, size + 8, 12):
        assert tool.raw.log_other(ctypes.c_size_t(wrong)) == INVALID_VALUE
    assert tool.raw.log_other(ctypes.c_size_t(size - 16)) == 0  # an older, shorter table
    assert tool.raw.log_other_ends() == 0
    tool.watch(lambda: None)


# --- operations of warps ---------------------------------------------------------------------------------------------
def test_votes_of_a_warp(tool):
    library = cuda_api.load("emulator", "warps")
    out = library.buffer(np.zeros(32, np.uint32))
    events = tool.watch(lambda: library.launch("run_shrinking_votes", out, block=32))["warp"]
    masks = [(0xFFFFFFFF << i) & 0xFFFFFFFF for i in range(32)]
    assert [(e.name_, e.mask, e.lanes) for e in events] == [("__ballot_sync", mask, mask) for mask in masks]
    assert all("__ballot_sync" in source_line(library, e) for e in events)


def test_lanes_that_are_asked_for(tool):
    """A block of 40 threads: the last warp has eight lanes."""
    library = cuda_api.load("emulator", "warps")
    out = library.buffer(np.zeros(40, np.uint32))
    events = tool.watch(lambda: library.launch("run_active", out, block=40))["warp"]
    found = collections.Counter((e.name_, e.thread // 32, e.lanes) for e in events)
    both = [(0, 0xFFFFFFFF), (1, 0xFF)]
    assert found == {("__activemask", *x): 2 for x in both} | {("__syncwarp", *x): 1 for x in both}


def test_rows_of_matrices(tool):
    library = cuda_api.load("emulator", "tensor_core")
    data, out = library.buffer(np.zeros(64, np.uint32)), library.buffer(np.zeros(64, np.uint32))
    events = tool.watch(lambda: library.launch("run_load_2_0", data, out, block=32))
    assert [e.name_ for e in events["warp"]] == ["__syncwarp", "ldmatrix"]
    rows = events["access"]
    assert [(e.thread, e.bytes, e.kind, e.space, e.by) for e in rows] == [
        (lane, 16, "r", "shared", "matrix") for lane in range(16)
    ]
    assert [e.address - rows[0].address for e in rows] == [16 * lane for lane in range(16)]
    library = cuda_api.load("emulator", "hopper")
    data, out = library.buffer(np.zeros(128, np.uint32)), library.buffer(np.zeros(128, np.uint32))
    rows = tool.watch(lambda: library.launch("run_store_matrices", data, out, block=32))["access"]
    assert [(e.thread, e.bytes, e.kind, e.by) for e in rows] == [(lane, 16, "w", "matrix") for lane in range(32)]


# --- asynchronous copies and products --------------------------------------------------------------------------------
def test_cp_async(tool):
    """Three blocks of 32 threads copy four words each; of the last thread's, two are outside and become zeros."""
    library = cuda_api.load("emulator", "async_copies")
    data = library.buffer(np.arange(3 * 32 * 4, dtype=np.int32))
    out = library.buffer(np.zeros(3 * 32 * 4, np.int32))
    events = tool.watch(
        lambda: library.launch("run_copies_4_0", data, 4, 3 * 32 * 4 - 2, out, grid=3, block=32, shared=512)
    )
    counts = collections.Counter((e.stage, e.by) for e in events["async"])
    assert counts == {
        ("begins", "copy"): 384,
        ("commits", "copy"): 384,
        ("waits", "copy"): 2 * 96,
        ("ends", "copy"): 384,
    }
    assert len({e.operation for e in events["async"] if e.stage == "begins"}) == 384
    for pending in ("", "p"):
        reads = [e for e in events["access"] if e.kind == "r" + pending]
        writes = [e for e in events["access"] if e.kind == "w" + pending]
        assert ranges(reads) == set(range(data.address.value, data.address.value + data.bytes - 8))
        assert {e.space for e in reads} == {"global"}
        for block in events["block_begin"]:
            own = [e for e in writes if e.block == block.block]
            assert ranges(own) == set(range(block.shared, block.shared + 512))
            assert {e.space for e in own} == {"shared"}
    assert "cp_async<BYTES>" in source_line(library, next(e for e in events["async"] if e.stage == "begins"))


def map_shape(array, box, swizzle):
    """struct tensor_map_shape of tensor_map.h."""
    from test_hopper import map_shape as shape_of

    return shape_of(array, box, swizzle)


@pytest.mark.parametrize("swizzle", [0, 128])
@pytest.mark.parametrize("what", [0, 1, 2])
def test_boxes(tool, what, swizzle):
    """A box of 4 x 32 words, of which one row and eight columns are outside of the array of 16 x 40 words."""
    library = cuda_api.load("emulator", "hopper")
    array = library.buffer(np.zeros((16, 40), np.int32))
    data = library.buffer(np.zeros((4, 32), np.int32))
    shape, at = map_shape(np.empty((16, 40), np.int32), (4, 32), swizzle), (ctypes.c_int * 5)(16, 13)
    arguments = (array, ctypes.byref(shape), ctypes.byref(at), 512, data, what)
    events = tool.watch(lambda: library.launch("run_copy", *arguments, block=64, shared=512 + 1024))
    by, of_array, of_box = ("load", "r", "w") if what == 0 else ("store", "w", "r")
    inside = [array.address.value + 4 * (40 * row + 16) for row in (13, 14, 15)]
    (block,) = events["block_begin"]
    box = -(-block.shared // 1024) * 1024
    for pending in ("p", ""):
        found = [e for e in events["access"] if e.by == by and ("p" in e.kind) == bool(pending)]
        assert [(e.address, e.bytes) for e in found if e.space == "global"] == [(a, 96) for a in inside]
        assert [(e.address, e.bytes) for e in found if e.space == "shared"] == [(box + 128 * i, 128) for i in range(4)]
        assert {(e.space, e.kind) for e in found} == {("global", of_array + pending), ("shared", of_box + pending)}
        assert len({e.operation for e in found}) == 1
    life = [(e.stage, e.operation) for e in events["async"] if e.by == by and e.stage != "fences"]
    number = found[0].operation
    assert number
    if what == 0:
        assert life == [("begins", number), ("ends", number)]
        (begin,) = (e for e in events["async"] if e.stage == "begins")
        assert begin.mbarrier in {e.object for e in events["barrier"] if e.stage == "starts"}
        assert stages(events)["mbarrier"] == {"starts": 1, "arrives": 1, "opens": 1, "leaves": 64}
    else:
        assert life == [("begins", number), ("commits", 0), ("waits", 0), ("ends", number)]
        assert [e.reads_only for e in events["async"] if e.stage == "waits"] == [what - 1]
        assert len([e for e in events["async"] if e.stage == "fences"]) == 64


@pytest.mark.parametrize("layout", [0, 1, 2, 3])
@pytest.mark.parametrize("columns", [64, 128])
def test_operands_of_products(tool, layout, columns):
    """One step along k of 128 bytes, in four products: together they read all bytes of A and B, each warp its rows."""
    library = cuda_api.load("emulator", "hopper")
    a, b = np.zeros((64, 64), np.uint16), np.zeros((columns, 64), np.uint16)
    if layout & 2:
        b = np.ascontiguousarray(b.T)
    out = library.buffer(np.zeros((64, columns), np.float32))
    arguments = (library.buffer(a), library.buffer(b), 64, 1, out, layout)
    shared = (64 + columns) * 128 + 1024
    events = tool.watch(lambda: library.launch(f"run_product_float16_{columns}", *arguments, block=128, shared=shared))
    (block,) = events["block_begin"]
    begin = -(-block.shared // 1024) * 1024
    begun = [e for e in events["async"] if e.by == "product" and e.stage == "begins"]
    assert len(begun) == 4 * 4 == len([e for e in events["async"] if e.by == "product" and e.stage == "ends"])
    for pending in ("p", ""):
        reads = [e for e in events["access"] if e.by == "product" and e.kind == "r" + pending]
        assert {e.space for e in reads} == {"shared"}
        assert ranges(reads) == set(range(begin, begin + (64 + columns) * 128))
        for warp in range(4):
            of_a = [e for e in reads if e.thread // 32 == warp and e.address < begin + 64 * 128]
            assert sum(e.bytes for e in of_a) == len(ranges(of_a)) == 16 * 128
            if not layout & 1:
                assert ranges(of_a) == set(range(begin + warp * 16 * 128, begin + (warp + 1) * 16 * 128))
            of_b = [e for e in reads if e.thread // 32 == warp and e.address >= begin + 64 * 128]
            assert sum(e.bytes for e in of_b) == len(ranges(of_b)) == columns * 128
            if (
                layout == 0
            ):  # product i of the warp reads pieces 2 i and 2 i + 1 of each row, where the swizzle has put them
                own = sorted({e.operation for e in of_a})
                for e in of_a + of_b:
                    row, i = (e.address - begin) // 128, own.index(e.operation)
                    assert (e.bytes, (e.address - begin) % 128 // 16) == (32, (2 * i ^ row % 8) & ~1)
        sums = [e for e in events["access"] if e.by == "product" and e.kind == "rw" + pending]
        assert {e.space for e in sums} == {"local"}
        assert collections.Counter(e.thread for e in sums) == dict.fromkeys(range(128), 4)


# --- what else the core reads and writes -----------------------------------------------------------------------------
@pytest.mark.parametrize("linear, x, elements", [(0, 1, [5]), (1, 1, [0, 1, 4, 5]), (1, 1.5, [1, 5])])
def test_texture_reads(tool, linear, x, elements):
    """A 2-D texture of 4 x 4 floats, read at (x, 1): a point, or the elements around it that have a weight."""
    from test_textures import ARRAY, FLOAT, Handles, Recipe

    library = cuda_api.load("emulator", "textures")
    data, at = library.buffer(np.zeros((4, 4), np.float32)), library.buffer(np.array([x, 1, 0], np.float32))
    out, handles = library.buffer(np.zeros(1, np.float32)), Handles()
    recipe = Recipe(ARRAY, (32, 0, 0, 0), FLOAT, 4, 4, 0, 16, (1, 1, 1), linear)

    def run():
        library.check("texture_make", ctypes.byref(handles), ctypes.byref(recipe), data, None)
        library.launch("run_read", ctypes.byref(handles), 0, 2, at, 1, out)
        library.check("texture_free", ctypes.byref(handles))

    events = tool.watch(run)
    (memory,), (freed,) = events["allocate"], events["release"]
    assert (memory.address, memory.kind, memory.bytes) == (freed.address, "device", 64)
    assert [(e.address - memory.address) // 4 for e in events["access"]] == elements
    assert {(e.bytes, e.kind, e.by, e.space) for e in events["access"]} == {(4, "r", "texture", "global")}
    assert [(e.to, getattr(e, "from"), e.width, e.height) for e in events["copy"]] == [
        (memory.address, data.address.value, 16, 4)
    ]


def test_printf(tool):
    library = cuda_api.load("emulator", "print")
    (event,) = tool.watch(lambda: library.launch("run_pointers", None))["access"]
    assert (event.by, event.kind, ctypes.string_at(event.address, event.bytes)) == ("print", "r", b"%p\n\0")


def test_copies_and_memory(tool):
    """Each kind of memory from its allocation to its release; copies and fills with their stream."""
    library = cuda_api.load("emulator", "symbols")
    stream = library.stream()
    number = library.value("api_stream_id", ctypes.c_ulonglong, stream)
    host = np.arange(64, dtype=np.int32)
    place = ctypes.c_void_p(host.ctypes.data)
    memory, pinned = ctypes.c_void_p(), ctypes.c_void_p()
    found = ctypes.c_size_t()

    def run():
        library.check("api_malloc", ctypes.byref(memory), ctypes.c_size_t(256))
        library.check("api_malloc_host", ctypes.byref(pinned), ctypes.c_size_t(512))
        library.check("api_host_register", place, ctypes.c_size_t(256), 0)
        library.check("api_copy_async", memory, place, ctypes.c_size_t(256), cuda_api.TO_DEVICE, stream)
        library.check("api_set_async", memory, 9, ctypes.c_size_t(100), stream)
        library.check("api_stream_synchronize", stream)
        assert tool.raw.log_memory_at(ctypes.c_void_p(memory.value + 255), ctypes.byref(found)) == 0
        assert found.value == 256
        assert tool.raw.log_memory_at(ctypes.c_void_p(pinned.value), ctypes.byref(found)) == 1
        library.check("api_host_unregister", place)
        library.check("api_free", memory)
        library.check("api_free_host", pinned)
        assert tool.raw.log_memory_at(memory, ctypes.byref(found)) == -1

    events = tool.watch(run)
    expected = [("device", memory.value, 256), ("pinned", pinned.value, 512), ("registered", place.value, 256)]
    assert [(e.kind, e.address, e.bytes) for e in events["allocate"]] == expected
    assert sorted((e.kind, e.address, e.bytes) for e in events["release"]) == sorted(expected)
    copy, fill = events["copy"]
    assert (copy.to, getattr(copy, "from"), copy.width, copy.height) == (memory.value, place.value, 256, 1)
    assert (fill.to, getattr(fill, "from"), fill.width, fill.value) == (memory.value, 0, 100, 9)
    assert copy.stream == fill.stream == number


def test_what_the_host_orders(tool):
    """Launches and copies have the numbers under which they were queued; events and waits are reported as called."""
    with cudakern.use_backend("emulator"):
        x, program = cudakern.zeros(64, "f4"), cudakern.compile("__global__ void fill(float *x) { *x = 1; }")
        cudakern.synchronize()
        one, other = cudakern.Stream(), cudakern.Stream()

        def run():
            program.fill[1, 1, 0, one](x)
            mark = one.record()
            other.wait(mark)
            program.fill[1, 1, 0, other](x)
            mark.synchronize()
            other.synchronize()
            np.testing.assert_array_equal(x.get()[0], 1)
            cudakern.synchronize()

        events = tool.watch(run)
    numbers = [launch.order for launch in events["launch_begin"]]
    work = {e.order: e for e in events["order"] if e.kind == "work"}
    assert [work[n].stream for n in numbers] == [launch.stream for launch in events["launch_begin"]]
    assert not any(work[n].legacy or work[n].blocking for n in numbers)
    assert numbers == sorted(numbers)
    (copy,) = events["copy"]
    assert copy.host_waits
    assert copy.order > numbers[1]
    first, second = (work[n].stream for n in numbers)
    marks = [e.event for e in events["order"] if (e.kind, e.stream) == ("record", first)]
    kinds = [(e.kind, e.stream) for e in events["order"] if e.kind != "wait" or e.event in marks]
    for before, after in [
        (("work", first), ("record", first)),
        (("record", first), ("wait", second)),
        (("wait", second), ("stream", second)),
    ]:
        assert kinds.index(before) < kinds.index(after)
    assert any(e.kind == "event" and e.event in marks for e in events["order"])
    assert kinds[-1] == ("device", 0)


def test_symbols(tool, tmp_path):
    """A variable is reported when the host first names it."""
    (library,) = cuda_api.copies("emulator", "symbols", tmp_path, 1)
    value, size = ctypes.c_float(1.5), ctypes.c_size_t(4)
    arguments = (0, None, ctypes.byref(value), size, ctypes.c_size_t(0), cuda_api.TO_DEVICE)
    events = tool.watch(lambda: [library.check("to_symbol", *arguments) for _ in range(2)])
    ((symbol,), copies) = events["allocate"], events["copy"]
    assert (symbol.kind, symbol.bytes) == ("symbol", 4)
    assert [e.to for e in copies] == [symbol.address] * 2


# --- what the kernel's own code does ---------------------------------------------------------------------------------
def test_accesses_of_the_code(tool, reported):
    """Loads and stores with their thread, address, space and source line."""
    data = np.arange(32, dtype=np.int32)
    source, out = reported.buffer(data), reported.buffer(np.zeros(32, np.int32))
    events = tool.watch(lambda: reported.launch("run_neighbors", source, out, block=32))
    np.testing.assert_array_equal(out.get(), data ^ 1)
    (block,) = events["block_begin"]
    arrays = addresses(source) | addresses(out)  # (compilers also report reads of blockIdx and the like)
    accesses = [e for e in events["access"] if e.by == "thread" and (e.space == "shared" or e.address in arrays)]
    lines = dict(zip(reported.lines("fill") + reported.lines("take"), ("fill", "take"), strict=True))
    asked = [e.code for e in accesses]
    where = {e.code: lines.get(line) for e, (_, line) in zip(accesses, source_lines(asked), strict=True)}
    for thread in range(32):
        own = [(where[e.code], e.kind, e.space, e.address) for e in accesses if e.thread == thread and where[e.code]]
        tile = next(address for _, _, space, address in own if space == "shared") - 4 * thread
        assert tile in range(block.statics, block.statics + block.static_bytes)
        assert own == [
            ("fill", "r", "global", source.address.value + 4 * thread),
            ("fill", "w", "shared", tile + 4 * thread),
            ("take", "r", "shared", tile + 4 * (thread ^ 1)),
            ("take", "w", "global", out.address.value + 4 * thread),
        ]


def test_each_block_of_a_cluster_has_its_own_addresses(tool, reported):
    """Its static shared variables, although the code of all finds them at one address, and its mbarriers."""
    source, out = reported.buffer(np.arange(32, dtype=np.int32)), reported.buffer(np.zeros(128, np.int32))
    events = tool.watch(lambda: reported.launch("run_neighbors", source, out, grid=4, block=32, cluster=4))
    own = {}
    for block in events["block_begin"]:
        accesses = [e for e in events["access"] if e.block == block.block and e.space == "shared"]
        own[block.block] = ranges(accesses)
        assert len(own[block.block]) == 128
        assert own[block.block] <= set(range(block.statics, block.statics + block.static_bytes))
    assert len(set.union(*own.values())) == 4 * 128
    library = cuda_api.load("emulator", "clusters")
    out = library.buffer(np.zeros((3, 5), np.int32))
    events = tool.watch(lambda: library.launch("run_pass_on", 5, out, grid=3, block=32, cluster=3))
    homes = {b.block: range(b.statics, b.statics + b.static_bytes) for b in events["block_begin"]}
    of_barriers = [e for e in events["barrier"] if e.kind == "mbarrier"]
    for event in of_barriers:
        if event.stage in ("starts", "leaves"):
            assert event.object in homes[event.block]
    assert len({e.object for e in of_barriers}) == 2 * 3
    # The first block arrives at each block's `written`, and each block at the `free` of the first.
    arrivals = collections.Counter((e.block, e.object) for e in of_barriers if e.stage == "arrives")
    assert set(arrivals.values()) == {5}
    assert sum(block == 0 for block, _ in arrivals) == 4
    assert all(object in homes[0] for block, object in arrivals if block != 0)


def test_what_the_core_does_for_a_warp_is_reported_once(tool, reported):
    out = reported.buffer(np.zeros(32, np.uint32))
    events = tool.watch(lambda: reported.launch("run_matrix", out, block=32))
    shared = [(e.thread, e.bytes, e.kind, e.by) for e in events["access"] if e.space == "shared"]
    writes = [(thread, 4, "w", "thread") for thread in range(32)]
    assert shared == writes + [(lane, 16, "r", "matrix") for lane in range(8)]


def test_fences(tool, reported):
    out = reported.buffer(np.zeros(32, np.int32))
    events = tool.watch(lambda: reported.launch("run_fences", out, block=32))
    scopes = ["block", "device", "system"]
    assert [(e.thread, e.scope) for e in events["fence"]] == list(itertools.product(range(32), scopes))
    lines = [line for _, line in source_lines([e.code for e in events["fence"][:3]])]
    assert [[line] for line in lines] == [reported.lines(scope) for scope in scopes]


def test_an_index_that_fails(tool, reported):
    out = reported.buffer(np.zeros(32, np.int32))

    def run():
        with pytest.raises(cuda_api.CudaFailure, match=r"the index -2 is outside of an array of the type int \[8\]"):
            reported.launch("run_bad_index", out, -2, block=32)

    events = tool.watch(run)
    (event,) = events["index"]
    assert (event.thread, event.index, event.type) == (3, -2, "int_[8]")
    assert [event.line] == reported.lines("index")


def test_a_block_of_the_heap(tool, reported):
    out = reported.buffer(np.zeros(3, np.int32))
    events = tool.watch(lambda: reported.launch("run_heap", out, block=3))
    np.testing.assert_array_equal(out.get(), 7)
    new, old = events["allocate"], events["release"]
    assert [(e.kind, e.thread, e.bytes) for e in new] == [("heap", thread, 12) for thread in range(3)]
    assert [(e.kind, e.thread, e.address) for e in old] == [("heap", e.thread, e.address) for e in new]


def test_a_tool_that_ends_a_kernel(tool, reported):
    source, out = reported.buffer(np.arange(32, dtype=np.int32)), reported.buffer(np.zeros(32, np.int32))
    with pytest.raises(cuda_api.CudaFailure, match=r"block \(0,0,0\), thread \(5,0,0\): the tool found a mistake"):
        tool.watch(lambda: reported.launch("run_neighbors", source, out, block=32), failing_thread=5)


def test_a_tool_that_lets_other_threads_run(tool, reported):
    source, out = reported.buffer(np.arange(32, dtype=np.int32)), reported.buffer(np.zeros(32, np.int32))
    events = tool.watch(lambda: reported.launch("run_neighbors", source, out, block=32), yields=1)
    np.testing.assert_array_equal(out.get(), np.arange(32) ^ 1)
    assert [e.thread for e in events["thread_begin"]] == list(range(32))
    first_end = events["all"].index(events["thread_end"][0])
    assert events["all"].index(events["thread_begin"][-1]) < first_end


# --- source lines ----------------------------------------------------------------------------------------------------
class Line(ctypes.Structure):
    _fields_ = [("line", ctypes.c_int), ("file", ctypes.c_char * 200)]


def source_lines(codes):
    """(file, line) of each address."""
    core = ctypes.CDLL(str(cuda_api.CORE))
    lines = (Line * len(codes))()
    core.emu_source_lines((ctypes.c_size_t * len(codes))(*codes), ctypes.c_size_t(len(codes)), lines)
    return [(line.file.decode(), line.line) for line in lines]


def test_source_lines_in_batches(tool, reported, tmp_path, monkeypatch):
    """Many addresses of two libraries, and some of none: two processes."""
    source, out = reported.buffer(np.arange(32, dtype=np.int32)), reported.buffer(np.zeros(32, np.int32))
    events = tool.watch(lambda: reported.launch("run_neighbors", source, out, block=32))
    codes = [e.code for e in events["access"] if e.by == "thread"]
    other = ctypes.cast(tool.raw.log_begin, ctypes.c_void_p).value
    program = tmp_path / "addr2line"
    program.write_text(f'#!/bin/sh\necho >> {tmp_path}/calls\nexec {shutil.which("addr2line")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    asked = [*codes, 0, 1, other, *reversed(codes)]
    answers = source_lines(asked)
    assert (tmp_path / "calls").read_text() == "\n" * 2
    names = {os.path.basename(file) for file, line in answers[: len(codes)] if line}
    assert names == {"reported.cu"}
    assert set(reported.lines("fill") + reported.lines("take")) <= {line for _, line in answers}
    assert [line for _, line in answers[len(codes) : len(codes) + 2]] == [0, 0]
    assert os.path.basename(answers[len(codes) + 2][0]) == "log.cpp"
    assert answers[-len(codes) :] == answers[: len(codes)][::-1]
    assert source_lines([codes[0]]) == answers[:1]


# --- all of them -----------------------------------------------------------------------------------------------------
def test_there_is_an_event_of_every_kind(tool, reported):
    """A program that does a bit of everything; the callbacks of the table, and the kinds within each."""
    seen = collections.Counter()

    def count(library, function, *arguments, **shape):
        for event in tool.watch(lambda: library.launch(function, *arguments, **shape))["all"]:
            seen[event.name] += 1

    out = reported.buffer(np.zeros(64, np.int32))
    count(reported, "run_heap", out, block=32)
    library = cuda_api.load("emulator", "async_copies")
    count(library, "run_pipeline", library.buffer(np.zeros(64, np.float32)), 1, out, block=64)
    library = cuda_api.load("emulator", "warps")
    count(library, "run_warp_barrier", out, 1, block=32)
    count(reported, "run_fences", out, block=32)
    for event in (events := tool.watch(out.get))["all"] + events["order"]:
        seen[event.name] += 1
    names = [
        "launch_begin",
        "launch_end",
        "block_begin",
        "block_end",
        "thread_begin",
        "thread_end",
        "access",
        "barrier",
    ]
    names += ["warp", "async", "copy", "allocate", "release", "fence", "order"]
    assert all(seen[name] for name in names)
    assert set(seen) == set(names)
