"""The chip: what a device says of itself, how many blocks it holds, and what our kernels take of it."""

import json
import shutil
import subprocess

import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, HAS_BFLOAT16
from cases import emulated_chip as emulated
from cudakern import _installed, _recorded, _resources
from cudakern._chip import CHIPS, MULTIPROCESSORS
from cudakern._cli import main
from cudakern._operations import names, operation
from cudakern._resources import parse_ptxas

# --- what a device says of itself ------------------------------------------------------------------------------------
each_backend = pytest.mark.parametrize("backend", BACKENDS)


#: P's slide, line by line: what it says, and the attributes that hold it.
SLIDE = [
    ("Device 0", ("index", "name")),
    ("CUDA driver version / runtime version", ("driver_version", "runtime_version")),
    ("CUDA capability", ("capability",)),
    ("Total amount of global memory", ("memory_bytes",)),
    ("Multiprocessors", ("multiprocessors", "cores_per_multiprocessor")),
    ("clock rate", ("clock_khz",)),
    ("Memory clock rate", ("memory_clock_khz",)),
    ("Memory bus width", ("memory_bus_bits",)),
    ("L2 cache size", ("l2_bytes",)),
    ("Maximum texture dimension size", ("texture_1d", "texture_2d", "texture_3d")),
    ("Maximum layered 1D texture size", ("texture_1d_layered",)),
    ("Maximum layered 2D texture size", ("texture_2d_layered",)),
    ("Total amount of constant memory", ("total_constant",)),
    ("Total amount of shared memory per block", ("shared_per_block",)),
    ("Total number of registers per block", ("registers_per_block",)),
    ("Warp size", ("warp_size",)),
    ("Maximum number of threads per multiprocessor", ("max_threads_per_multiprocessor",)),
    ("Maximum number of threads per block", ("max_threads_per_block",)),
    ("Maximum size of a block", ("max_block_dims",)),
    ("Maximum size of a grid", ("max_grid",)),
    ("Maximum memory pitch", ("max_pitch",)),
    ("Texture alignment", ("texture_alignment",)),
    ("Concurrent copy and kernel execution", ("copies_overlap", "async_engines")),
]


@pytest.mark.proves("device_query")
@each_backend
def test_all_that_the_slide_lists_is_there_in_its_order(backend):
    with ck.use_backend(backend):
        found = ck.device_query()
    words, at = str(found), 0
    plain = json.loads(json.dumps(found.to_dict()))
    for line, attributes in SLIDE:
        at = words.index(line, at)
        for name in attributes:
            assert getattr(found, name) is not None
            assert name in plain
    assert repr(found) == words
    assert found.name in words
    assert "<table>" in found._repr_html_()
    assert found.clock_khz > 0
    assert found.cores == found.multiprocessors * found.cores_per_multiprocessor


@pytest.mark.proves("device_query")
def test_the_slides_chip():
    """A Quadro GV100 is the V100's chip: where the slide's figures are the chip's and not the card's, they agree."""
    with ck.use_backend("emulator"), emulated("V100"):
        found = ck.device_query()
        words = str(found)
    assert found.capability == (7, 0)
    assert (found.multiprocessors, found.cores_per_multiprocessor) == (80, 64)
    assert (found.memory_bus_bits, found.l2_bytes) == (4096, 6291456)
    assert "1D=(131072), 2D=(131072, 65536), 3D=(16384, 16384, 16384)" in words
    assert (found.texture_1d_layered, found.texture_2d_layered) == ((32768, 2048), (32768, 32768, 2048))
    assert (found.total_constant, found.shared_per_block, found.registers_per_block) == (65536, 49152, 65536)
    assert (found.warp_size, found.max_threads_per_multiprocessor, found.max_threads_per_block) == (32, 2048, 1024)
    assert found.max_block_dims == (1024, 1024, 64)
    assert found.max_grid == (2147483647, 65535, 65535)
    assert (found.max_pitch, found.texture_alignment) == (2147483647, 512)


@each_backend
def test_which_device_is_asked(backend):
    with ck.use_backend(backend):
        here = ck.devices()[0]
        assert ck.device_query(0) == ck.device_query(here) == ck.device_query()
        assert ck.device_query().count == len(ck.devices())
        with pytest.raises(ValueError, match="999"):
            ck.device_query(999)
        with pytest.raises(TypeError):
            ck.device_query("first")


if "cuda" in BACKENDS:

    def test_against_nvml():
        """The driver's management library, by nvidia-smi, which every driver brings."""
        fields = "pci.bus_id,name,memory.total,compute_cap,clocks.max.sm,clocks.max.memory,ecc.mode.current"
        if shutil.which("nvidia-smi") is None:
            pytest.skip("no nvidia-smi")
        line = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        told = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout
        cards = [[field.strip() for field in card.split(",")] for card in told.splitlines()]
        with ck.use_backend("cuda"):
            found = ck.device_query()
        bus = "{:08X}:{:02X}:{:02X}.0".format(*found.pci)
        mine = [card for card in cards if card[0].upper() == bus]
        assert len(mine) == 1, (bus, cards)
        _, name, memory, capability, clock, memory_clock, ecc = mine[0]
        assert found.name == name
        assert 0.97 * float(memory) <= found.memory_bytes / 2**20 <= float(memory)  # what the system keeps is in NVML's
        assert ".".join(map(str, found.capability)) == capability
        assert found.clock_khz == 1000 * int(clock)
        assert found.memory_clock_khz == 1000 * int(memory_clock)
        assert found.ecc == (ecc == "Enabled")

    def test_against_cupy():
        cupy = pytest.importorskip("cupy")
        with ck.use_backend("cuda"):
            found = ck.device_query()
        theirs = cupy.cuda.runtime.getDeviceProperties(found.index)
        names = {
            "name": found.name.encode(),
            "multiProcessorCount": found.multiprocessors,
            "major": found.capability[0],
            "minor": found.capability[1],
            "memoryBusWidth": found.memory_bus_bits,
            "l2CacheSize": found.l2_bytes,
            "maxTexture1D": found.texture_1d,
            "maxTexture2D": found.texture_2d,
            "maxTexture3D": found.texture_3d,
            "totalConstMem": found.total_constant,
            "sharedMemPerBlock": found.shared_per_block,
            "sharedMemPerBlockOptin": found.shared_per_block_optin,
            "sharedMemPerMultiprocessor": found.shared_per_multiprocessor,
            "regsPerBlock": found.registers_per_block,
            "warpSize": found.warp_size,
            "maxThreadsPerMultiProcessor": found.max_threads_per_multiprocessor,
            "maxThreadsPerBlock": found.max_threads_per_block,
            "maxThreadsDim": found.max_block_dims,
            "maxGridSize": found.max_grid,
            "memPitch": found.max_pitch,
            "textureAlignment": found.texture_alignment,
            "asyncEngineCount": found.async_engines,
            "clockRate": found.clock_khz,
            "memoryClockRate": found.memory_clock_khz,
        }
        # Which there are depends on CuPy's CUDA.
        shared = {name: value for name, value in names.items() if name in theirs}
        assert len(shared) >= 12
        assert {
            name: tuple(theirs[name]) if isinstance(value, tuple) else theirs[name] for name, value in shared.items()
        } == (shared)


# --- the occupancy calculator ----------------------------------------------------------------------------------------
# P: "a P100 has 256 KB of registers, 64 KB of shared memory, 64 warps and 32 blocks a multiprocessor".
P100 = 6.0


@pytest.mark.proves("occupancy")
@pytest.mark.parametrize("registers, share", [(32, 1), (64, 0.5)])
@pytest.mark.parametrize("threads", [64, 128, 256, 512])
def test_first_example_registers(threads, registers, share):
    found = ck.occupancy(threads=threads, registers=registers, capability=P100)
    assert found.occupancy == share
    assert found.active_threads == 256 * 1024 // (4 * registers) == 2048 * share
    assert "registers" in found.limited_by


@pytest.mark.parametrize("bytes_a_thread, share", [(32, 1), (64, 0.5)])
@pytest.mark.parametrize("threads", [64, 128, 256, 512])
def test_second_example_shared_memory(threads, bytes_a_thread, share):
    found = ck.occupancy(threads=threads, shared_bytes=threads * bytes_a_thread, capability=P100)
    assert found.occupancy == share
    assert found.active_threads == 64 * 1024 // bytes_a_thread == 2048 * share
    assert "shared memory" in found.limited_by


def test_third_example_block_size():
    found = ck.occupancy(threads=32, capability=P100)
    assert found.occupancy == 32 * 32 / 2048 == 0.5
    assert found.limited_by == ("blocks",)
    assert ck.occupancy(threads=64, capability=P100).occupancy == 1


@pytest.mark.proves("occupancy")
def test_the_page_of_the_calculator():
    """P's page for 7.0: 320 threads, 32,768 bytes a multiprocessor. Its results are 4 blocks, 40 warps, 1280 threads,
    limited by registers at 48 warps, which 37 to 40 registers give. (The scan's "32 registers" leaves 64 warps.)"""
    for registers in (37, 40):
        page = ck.occupancy(threads=320, registers=registers, capability=7.0, shared_config=32768)
        assert (page.active_blocks, page.active_warps, page.active_threads) == (4, 40, 1280)
        assert page.occupancy == 0.625
        assert page.limited_by == ("registers",)
        warps, blocks, registers_limit, shared = page.limits
        assert (warps.per_block, warps.available, warps.blocks) == (10, 64, 6)
        assert blocks.available == 32
        assert registers_limit.available == 65536
        assert "48 warps" in registers_limit.note
        assert shared.available == 32768
    assert ck.occupancy(threads=320, registers=32, capability=7.0).active_blocks == 6
    assert ck.occupancy(threads=320, registers=41, capability=7.0).active_blocks == 4  # 11 warps a partition
    assert ck.occupancy(threads=320, registers=49, capability=7.0).active_blocks == 3


def test_the_documents_tables():
    """P's table of technical specifications, and its page on three chips."""
    of = MULTIPROCESSORS
    kb = 1024
    sizes = {35: 48, 37: 112, 50: 64, 52: 96, 53: 64, 60: 64, 61: 96, 62: 64, 70: 96, 75: 64}
    assert {number: of[number].shared // kb for number in sizes} == sizes
    assert [of[number].blocks for number in (35, 37, 50, 52, 60, 70, 75)] == [16, 16, 32, 32, 32, 32, 16]
    assert [of[number].registers // kb for number in (35, 37, 50, 60, 70)] == [64, 128, 64, 64, 64]
    assert {number for number in sizes if of[number].registers_per_block == 32 * kb} == {53, 62}
    assert all(of[number].warps == 64 for number in sizes if number != 75)


@pytest.mark.parametrize("number", MULTIPROCESSORS)
def test_the_limits_hold_for_every_chip(number):
    """Whatever is asked for, what is active fits the multiprocessor, and one block more does not."""
    chip = MULTIPROCESSORS[number]
    random = np.random.default_rng(number)
    seen = set()
    for _ in range(300):
        threads = int(random.integers(1, 1025))
        registers = int(random.integers(0, 256))
        shared = int(random.integers(0, chip.shared_per_block + 1)) if random.random() < 0.7 else 0
        found = ck.occupancy(threads=threads, registers=registers, shared_bytes=shared, capability=number)
        seen.update(found.limited_by)
        warps = -(-threads // 32)
        per_warp = -(-registers * 32 // 256) * 256
        per_block = -(-(shared + chip.reserved) // chip.shared_unit) * chip.shared_unit

        def fits(blocks, warps=warps, per_warp=per_warp, per_block=per_block):
            in_a_partition = chip.registers // chip.partitions // per_warp if per_warp else chip.warps
            return (
                blocks <= chip.blocks
                and blocks * warps <= min(chip.warps, chip.partitions * in_a_partition)
                and blocks * per_block <= chip.shared
            )

        refused = per_warp * (-(-warps // chip.partitions) * chip.partitions) > chip.registers_per_block
        assert found.active_blocks == 0 if refused else fits(found.active_blocks)
        assert refused or not fits(found.active_blocks + 1)
        assert 0 <= found.occupancy <= 1
    assert {"warps", "registers", "shared memory"} <= seen


def test_what_is_newer_than_the_documents():
    """9.0's figures, as the programming guide has them: 1 KB a block is the system's, and 227 KB the most."""
    assert ck.occupancy(threads=32, shared_bytes=227 * 1024, capability=9.0).active_blocks == 1
    assert ck.occupancy(threads=32, shared_bytes=227 * 1024 + 1, capability=9.0).active_blocks == 0
    assert ck.occupancy(threads=32, shared_bytes=113 * 1024, capability=9.0).active_blocks == 2
    assert ck.occupancy(threads=32, shared_bytes=113 * 1024 + 1, capability=9.0).active_blocks == 1
    assert ck.occupancy(threads=1024, capability=8.6).occupancy == 32 / 48
    assert ck.occupancy(threads=32, capability=12.0).occupancy == 24 / 48
    assert ck.occupancy(threads=1024, registers=65, capability=9.0).active_blocks == 0  # one block is too much


def test_how_a_capability_is_written():
    found = [ck.occupancy(threads=64, capability=c).capability for c in (8.6, "8.6", (8, 6), 86, "86")]
    assert set(found) == {(8, 6)}
    assert {ck.occupancy(threads=64, capability=c).capability for c in (9, 9.0, "9", "9.0", 90, "90")} == {(9, 0)}
    assert ck.occupancy(threads=64, capability="12.0").capability == (12, 0)
    assert ck.occupancy(threads=64).capability == tuple(ck.backend().properties["capability"])


def test_the_emulators_chips_by_name():
    """The calculator and the emulator have a chip's facts from one file: what the emulated chip says of itself is what
    the calculator has of it by its name, whichever chip and backend answers."""
    for name, chip in CHIPS.items():
        with ck.use_backend("emulator"), emulated(name):
            query, here = ck.device_query(), ck.backend().properties
        has = ck.occupancy(threads=64, capability=name.lower()).chip
        assert (10 * query.capability[0] + query.capability[1], query.multiprocessors) == chip
        assert has == MULTIPROCESSORS[chip.capability]
        assert query.cores_per_multiprocessor == has.float32
        assert query.max_threads_per_multiprocessor == 32 * has.warps
        assert query.max_blocks_per_multiprocessor == has.blocks
        assert (query.shared_per_multiprocessor, query.shared_per_block_optin) == (has.shared, has.shared_per_block)
        assert (here["registers_per_block"], here["multiprocessors"]) == (has.registers_per_block, chip.multiprocessors)
        best = ck.max_potential_block_size(registers=32, capability=name)
        assert best == ck.max_potential_block_size(
            registers=32, capability=chip.capability, multiprocessors=chip.multiprocessors
        )
    with pytest.raises(TypeError, match="or a chip \\(H200, H100, A100, V100, P100\\), not 'K80'"):
        ck.occupancy(threads=64, capability="K80")


@pytest.mark.parametrize(
    "kind, words, given",
    [
        (TypeError, "pass threads=", {}),
        (TypeError, "threads= must be an integer", {"threads": 32.5}),
        (ValueError, "threads=0", {"threads": 0}),
        (ValueError, "from 1 to 1024", {"threads": 1025}),
        (ValueError, "from 0 to 255", {"threads": 32, "registers": 256}),
        (ValueError, "shared_bytes=-1", {"threads": 32, "shared_bytes": -1}),
        (ValueError, "3.5, 3.7, .* 12.0", {"threads": 32, "capability": 3.0}),
        (ValueError, "no data", {"threads": 32, "capability": 9.05}),
        (TypeError, "must be 9.0", {"threads": 32, "capability": None.__class__}),
        (TypeError, "must be 9.0", {"threads": 32, "capability": "nine"}),
        (ValueError, "from 0 to 98304", {"threads": 32, "capability": 7.0, "shared_config": 100000}),
        (TypeError, "needs an operation", {"threads": 32, "variant": "tiled"}),
        (TypeError, "needs an operation", {"threads": 32, "tile": 8}),
    ],
)
def test_bad_input(kind, words, given):
    with pytest.raises(kind, match=words):
        ck.occupancy(**given)


def test_what_an_occupancy_shows(tmp_path):
    found = ck.occupancy(threads=256, registers=64, shared_bytes=20000, capability=9.0)
    words = repr(found)
    for what in ("256 threads", "64 registers", "20,000 B", "9.0", "registers <", "occupancy 50.0%"):
        assert what in words
    assert "<table>" in found._repr_html_()
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["limited_by"] == ["registers"]
    assert [limit["name"] for limit in plain["limits"]] == ["warps", "blocks", "registers", "shared memory"]
    unknown = ck.occupancy(threads=256, capability=9.0)
    assert "an unknown number of registers" in repr(unknown)
    assert unknown.limits[2].blocks is None

    curves = found.curves()
    assert list(curves) == ["threads", "registers", "shared_bytes"]
    for name, points in curves.items():
        for value, warps in points[:: len(points) // 7]:
            assert warps == found.varied(**{name: value}).active_warps
        assert len({warps for _, warps in points}) > 2
    assert list(unknown.curves()) == ["threads", "shared_bytes"]
    for each in (found, unknown):
        picture = each.plot(tmp_path / "curves.png")
        assert len(picture.axes) == len(each.curves())
        assert (tmp_path / "curves.png").stat().st_size > 1000
        marked = [axes.lines[1].get_xydata()[0].tolist() for axes in picture.axes]
        assert all(y == each.active_warps for _, y in marked)


def test_max_potential_block_size():
    """Against a search through every block size."""
    for registers, shared, number in [(32, 0, 90), (40, 0, 70), (64, 0, 86), (128, 0, 60), (32, 20000, 80)]:
        grid, threads = ck.max_potential_block_size(
            registers=registers, shared_bytes=shared, capability=number, multiprocessors=10
        )
        all_sizes = [
            ck.occupancy(threads=t, registers=registers, shared_bytes=shared, capability=number)
            for t in range(32, 1025, 32)
        ]
        most = max(found.active_threads for found in all_sizes)
        best = max((found for found in all_sizes if found.active_threads == most), key=lambda found: found.threads)
        assert (grid, threads) == (10 * best.active_blocks, best.threads)
    assert ck.max_potential_block_size(threads_limit=100, capability=9.0, multiprocessors=1) == (32, 64)
    by_size = ck.max_potential_block_size(shared_bytes=lambda threads: 256 * threads, capability=9.0, multiprocessors=1)
    assert by_size.grid * by_size.threads * 256 <= 228 * 1024
    assert ck.max_potential_block_size(shared_bytes=10**6, capability=9.0, multiprocessors=1) == (0, 0)


# --- the calculator against CUDA's own function ----------------------------------------------------------------------
SWEEP = tuple(
    (threads, shared)
    for threads in (1, 31, 32, 33, 64, 96, 128, 160, 256, 320, 384, 512, 640, 768, 1000, 1024)
    for shared in (0, 1, 127, 128, 129, 1000, 3072, 4096, 8192, 10000, 16384, 24576, 32768, 48000)
)


def kernels_of(op, variant, sweep=()):
    what = operation(op)
    entry = ck.variants(op)[variant]
    return _resources.inspect(what, entry, np.dtype(entry.types[0]), {}, sweep)


@pytest.mark.proves("occupancy")
@each_backend
@pytest.mark.parametrize(
    "op, variant", [("sum_of_squares", "vectorized"), ("matmul", "tiled"), ("vector_add", "naive")]
)
def test_against_cudas_function_over_a_sweep(backend, op, variant):
    """cudaOccupancyMaxActiveBlocksPerMultiprocessor for block sizes and shared memory, of kernels as they are built."""
    with ck.use_backend(backend):
        assert len(SWEEP) <= 256
        kernel = kernels_of(op, variant, SWEEP)[0]
        registers = kernel["registers"] or None
        seen = set()
        for (threads, shared), blocks in zip(SWEEP, kernel["swept"], strict=True):
            mine = ck.occupancy(threads=threads, registers=registers, shared_bytes=shared + kernel["static_shared"])
            # (The function does not look at a kernel's own launch bounds: an H200 answers for 320 threads of 256.)
            allowed = shared <= kernel["max_dynamic_shared"]
            expected = mine.active_blocks if allowed else 0
            assert blocks == expected, (threads, shared, kernel)
            seen.add(blocks)
        assert len(seen) > 8


@each_backend
def test_potential_block_size_against_cudas(backend):
    with ck.use_backend(backend):
        for op, variant in (("sum_of_squares", "vectorized"), ("matmul", "tiled"), ("sum_of_squares", "shared_serial")):
            kernel = kernels_of(op, variant)[0]
            mine = ck.max_potential_block_size(
                registers=kernel["registers"] or None,
                shared_bytes=kernel["static_shared"] + kernel["dynamic_shared"],
                threads_limit=kernel["max_threads"],
            )
            assert kernel["potential"] == tuple(mine)
            told = ck.kernel_resources(op, variant)[0]
            assert (told.active_blocks, told.potential_block) == (kernel["active_blocks"], tuple(mine))


@pytest.mark.parametrize("chip, capability", [("H200", 9.0), ("A100", 8.0), ("V100", 7.0)])
def test_the_emulator_has_the_calculators_answers(chip, capability):
    """For every chip that it can be, past the shared memory that needs no opt-in too. (Of chips with fewer than 64
    multiprocessors it answers what it can keep resident: docs/emulator.md.)"""
    with ck.use_backend("emulator"), emulated(chip):
        kernel = kernels_of("vector_add", "naive", SWEEP)[0]
        for (threads, shared), blocks in zip(SWEEP, kernel["swept"], strict=True):
            mine = ck.occupancy(threads=threads, shared_bytes=shared, capability=capability)
            assert blocks == mine.active_blocks, (threads, shared)


# --- what the compiler made of our kernels ---------------------------------------------------------------------------
@pytest.mark.proves("kernel_resources")
@each_backend
@pytest.mark.parametrize("op", names())
def test_every_variant_tells_of_its_kernels(backend, op):
    with ck.use_backend(backend):
        found = ck.kernel_resources(op)
        variants = [variant for variant in ck.variants(op) if not variant.on_host and not variant.why_not(ck.backend())]
        # A library's kernels are not known; what a variant of ours adds to them may not be needed for this type.
        ours = {variant.name for variant in variants if "emulator" in variant.backends}
        assert ours <= {one.variant for one in found} <= {variant.name for variant in variants if variant.kernels}
        for variant in variants:
            seen = {one.kernel for one in found if one.variant == variant.name}
            assert not seen or set(variant.kernels) <= seen, variant.name
        for one in found:
            assert one.kernel in one.symbol
            assert one.threads >= 1
            assert all(size >= 1 for size in one.grid)
            assert one.source in ("driver", "build", "recorded", "unknown")
            assert (one.registers is None) == (one.source == "unknown") == bool(one.why)
            if one.source != "unknown":
                assert 1 <= one.registers <= 255
                assert one.local_bytes >= 0
                assert one.capability
        if backend == "cuda":
            assert {one.source for one in found} == {"driver"}
            assert all(one.max_threads >= one.threads for one in found)


@pytest.mark.parametrize("op", names())
def test_kernels_of_every_type_have_their_names(op):
    """By which the build's report is found: where the GPU's module was built here, it has words on all of them."""
    with ck.use_backend("emulator"):
        found = [
            kernel
            for variant in ck.variants(op)
            if not variant.on_host and not variant.why_not(ck.backend())
            for kind in variant.types
            if kind != "bfloat16" or HAS_BFLOAT16
            for kernel in ck.kernel_resources(op, variant.name, kind)
        ]
    assert all(one.kernel in one.symbol for one in found)
    if _resources.REPORT.exists():
        unknown = sorted({(one.variant, one.dtype, one.symbol) for one in found if one.source != "build"})
        assert unknown == []


@pytest.mark.proves("kernel_resources")
@each_backend
def test_what_a_call_would_launch_is_what_it_launches(backend):
    """Grid, block and dynamic shared memory are those of the profile's call; the result of the call is not touched."""
    with ck.use_backend(backend):
        for op, variant in (
            ("matmul", "shared_row"),
            ("sum_of_squares", "tree_sequential"),
            ("vector_add", "vectorized"),
        ):
            what = operation(op)
            shape = (100, 100, 100) if op == "matmul" else what.default_shape
            inputs = what.make(shape, np.dtype("float32"), 0)
            profile = ck.profile(what.call, *inputs, variant=variant, repeat=1, warmup=0)
            kernel = ck.kernel_resources(op, variant, dtype="float32")[0]
            assert kernel.block == profile.block
            if op != "matmul":
                assert kernel.grid == profile.grid
                assert kernel.dynamic_shared == profile.shared_bytes
    assert int(ck.sum_of_squares([1, 2, 3], variant="tree_sequential")) == 14


def test_parameters_choose_the_kernel():
    eight, sixteen = (ck.kernel_resources("matmul", "tiled", tile=tile)[0] for tile in (8, 16))
    assert eight.block == (8, 8, 1)
    assert sixteen.block == (16, 16, 1)
    assert eight.symbol != sixteen.symbol
    assert ck.kernel_resources("matmul", "tiled", "float64")[0].dtype == "float64"


PTXAS = """\
ptxas info    : Compiling entry function '_Z5firstPf' for 'sm_80'
ptxas info    : Function properties for _Z5firstPf
    64 bytes stack frame, 32 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 64 bytes cumulative stack size, 1024 bytes smem, 368 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compiling entry function '_Z6secondPf' for 'sm_80'
ptxas info    : Function properties for _Z6secondPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Compiling entry function '_Z5firstPf' for 'sm_90a'
ptxas info    : Function properties for _Z5firstPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem
"""  # noqa: E501


def test_the_builds_report(monkeypatch, tmp_path):
    found = parse_ptxas(PTXAS.splitlines())
    assert found["_Z5firstPf"] == [
        _resources.Built(255, 1024, 64, 32, 40, 376, "8.0"),
        _resources.Built(40, 2048, 0, 0, 0, 0, "9.0"),
    ]
    assert found["_Z6secondPf"] == [_resources.Built(12, 0, 0, 0, 0, 0, "8.0")]

    with ck.use_backend("emulator"):
        symbol = ck.kernel_resources("vector_add", "naive")[0].symbol
        report, build = tmp_path / "kernels.txt", tmp_path / "build.json"
        monkeypatch.setattr(_resources, "REPORT", report)
        monkeypatch.setattr(_installed, "BUILD", build)
        build.write_text('{"_cuda": {"built": false, "why_not": "there was no nvcc"}}')
        recorded = ck.kernel_resources("vector_add", "naive")
        assert (recorded[0].source, recorded[0].capability, recorded[0].why) == ("recorded", "9.0", "")
        assert "by nvcc" in repr(recorded)
        monkeypatch.setattr(_recorded, "compiled", lambda symbol: None)
        nothing = ck.kernel_resources("vector_add", "naive")
        assert (nothing[0].source, nothing[0].why) == ("unknown", "there was no nvcc")
        assert "there was no nvcc" in repr(nothing)
        assert "not known" in repr(ck.occupancy("vector_add", "naive"))

        report.write_text(PTXAS.replace("_Z5firstPf", symbol))
        known = ck.kernel_resources("vector_add", "naive")[0]
        assert (known.source, known.registers, known.static_shared, known.capability) == ("build", 40, 2048, "9.0")
        with emulated("A100"):
            spilling = ck.kernel_resources("vector_add", "naive")[0]
            assert (spilling.registers, spilling.spill_stores, spilling.local_bytes) == (255, 32, 64)
        held = ck.occupancy("vector_add", "naive", threads=256)
        assert (held.registers, held.shared_bytes) == (40, 2048)
        assert held.limited_by == ("registers",)
        assert ck.occupancy("vector_add", "naive", registers=16).registers == 16
        other = ck.kernel_resources("vector_add", "vectorized")[0]
        assert other.source == "unknown"
        assert "without this kernel" in other.why


def test_resources_with_a_parameter_that_some_variants_have(backend):
    found = ck.kernel_resources("sort", lists=8)
    assert {one.block[0] for one in found["merge_serial"]} == {8}
    assert found["sample_sort"]
    with pytest.raises(TypeError, match="no variant of sort has a parameter 'list'"):
        ck.kernel_resources("sort", list=8)
    with pytest.raises(
        TypeError, match="no variant of sort that runs here supports float64; supported: uint32, int32, float32"
    ):
        ck.kernel_resources("sort", dtype="float64")


def test_what_resources_show():
    found = ck.kernel_resources("sum_of_squares")
    assert all(variant.name in repr(found) for variant in ck.variants("sum_of_squares") if not variant.on_host)
    assert "<table>" in found._repr_html_()
    assert "<table>" in found[0]._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))[0]["operation"] == "sum_of_squares"
    assert [one.variant for one in found["atomic"]] == ["atomic"]


@pytest.mark.parametrize(
    "kind, words, arguments, given",
    [
        (ValueError, "matmul", ("matmull",), {}),
        (ValueError, "tiled", ("matmul", "tilde"), {}),
        (ValueError, "no kernel", ("matmul", "numpy"), {}),
        (TypeError, "not int8", ("matmul", "kahan", "int8"), {}),
        (TypeError, "has no parameter 'tiles'", ("matmul", "tiled"), {"tiles": 8}),
    ],
)
def test_bad_questions(kind, words, arguments, given):
    with pytest.raises(kind, match=words):
        ck.kernel_resources(*arguments, **given)
    with pytest.raises((kind, TypeError)):
        ck.occupancy(*arguments[:2], dtype=arguments[2] if len(arguments) > 2 else None, **given)


# --- the command line ------------------------------------------------------------------------------------------------
def cli(capsys, *arguments, status=0):
    assert main(list(arguments)) == status
    said = capsys.readouterr()
    return said.err if status else said.out


@each_backend
def test_query_on_the_command_line(backend, capsys):
    with ck.use_backend(backend):
        words = str(ck.device_query())
        plain = ck.device_query().to_dict()
    assert cli(capsys, "query", "--backend", backend).strip() == words
    assert json.loads(cli(capsys, "query", "--json", "--backend", backend)) == json.loads(json.dumps(plain))
    assert "999" in cli(capsys, "query", "--device", "999", "--backend", backend, status=2)


def test_occupancy_on_the_command_line(capsys, tmp_path):
    page = ("occupancy", "--threads", "320", "--registers", "40", "--capability", "7.0", "--shared-config", "32768")
    assert "occupancy 62.5%" in cli(capsys, *page)
    plain = json.loads(cli(capsys, *page, "--json"))
    assert (plain["active_blocks"], plain["active_warps"], plain["limited_by"]) == (4, 40, ["registers"])
    assert "matmul, tiled" in cli(capsys, "occupancy", "matmul", "tiled", "--registers", "32")
    assert json.loads(cli(capsys, "occupancy", "--threads", "64", "--shared", "1000", "--json"))["shared_bytes"] == 1000
    assert "pass threads=" in cli(capsys, "occupancy", status=2)
    assert "pass a variant of matmul" in cli(capsys, "occupancy", "matmul", status=2)
    assert "no data" in cli(capsys, "occupancy", "--threads", "64", "--capability", "2.0", status=2)
    cli(capsys, *page, "--plot", str(tmp_path / "curves.svg"))
    assert (tmp_path / "curves.svg").stat().st_size > 1000


def test_a_named_kernel_without_a_report(backend, monkeypatch):
    """What is not known is said, and is no figure; other kernels of the call are named."""
    monkeypatch.setattr(_resources, "_built", lambda symbol, capability: (None, "nobody looked"))
    monkeypatch.setattr(_recorded, "compiled", lambda symbol: None)
    found = ck.occupancy("matmul", "tiled", tile=32)
    if ck.kernel_resources("matmul", "tiled")[0].source == "driver":
        assert found.note == ""
        return
    assert "0 B of dynamic shared memory" in repr(found)
    assert "occupancy at most 100.0%" in repr(found)
    assert "The number of registers is not known (nobody looked)" in found.note
    assert "The static shared memory is not known (nobody looked)" in found.note
    given = ck.occupancy("matmul", "tiled", tile=32, registers=40, shared_bytes=8192)
    assert (given.note, given.static_unknown) == ("", False)
    assert "sort_samples" in ck.occupancy("sort", "sample_sort").note


def test_registers_are_those_of_the_chip_that_the_code_was_made_for(backend):
    of_here, of_another = (ck.occupancy("matmul", "tiled", capability=c) for c in (9.0, 8.6))
    made_for = ck.kernel_resources("matmul", "tiled")[0].capability
    if made_for is None:  # a build without nvcc
        assert "are not known here" in of_another.note
        return
    assert [c for c, found in (("9.0", of_here), ("8.6", of_another)) if not found.note] == [made_for]
    assert of_another.note == f"The registers are those of the code for {made_for}; a build for 8.6 may differ."
    assert ck.occupancy("matmul", "tiled", registers=40, capability=8.6).note == ""


def test_a_variants_own_threads_change_its_shared_memory():
    """Given as the block's size or as the variant's parameter: they are one."""
    variant = ("sum_of_squares", "tree_sequential")
    held = ck.occupancy(*variant, threads=512, registers=20)
    assert (held.threads, held.shared_bytes) == (512, ck.kernel_resources(*variant, threads=512)[0].shared_bytes)
    assert held.shared_bytes > ck.occupancy(*variant, registers=20).shared_bytes
    with pytest.raises(ValueError, match="threads=2000 is not possible"):
        ck.occupancy(*variant, threads=2000)
    assert ck.occupancy("matmul", "tiled", threads=64, registers=20).threads == 64  # it has none: what is looked at


@each_backend
@pytest.mark.parametrize(
    "arguments, words",
    [
        (["matmul", "tiled", "tile=9"], "tile=9 is not possible (elements per side of a tile): it takes 8, 16, 32"),
        (["matmul", "tiled", "tile=x"], "tile= must be an integer, not 'x'"),
        (["matmul", "tiled", "tiles=8"], "variant 'tiled' has no parameter 'tiles'; it takes tile="),
        (["matmul", "tiled", "8"], "not matmul and tiled and 8; write parameters as NAME=VALUE"),
        (["matmul", "tiled", "tile=8", "tile=8"], "tile= appears twice"),
        (["matmul", "tilde", "tile=8"], "unknown variant 'tilde' of matmul: the nearest is 'tiled'"),
        (["sort", "merge_hybrid", "memory=shard"], "the nearest is 'shared'"),
        (["matmul", "tiled", "dtype=flot32"], "unknown type 'flot32': the nearest is 'float32'"),
    ],
)
def test_a_variants_parameters_on_the_command_line(backend, capsys, arguments, words):
    """Both commands that look at a variant's kernels take them and refuse in one line."""
    for command in ("occupancy", "resources"):
        assert words in cli(capsys, command, *arguments, "--backend", backend, status=2)
    here = ("--json", "--backend", backend)
    line = ("occupancy", "sum_of_squares", "tree_sequential", "threads=512", "blocks=3", "--registers", "20", *here)
    found = json.loads(cli(capsys, *line))
    assert (found["threads"], found["shared_bytes"] >= 4096) == (512, True)
    for words in (["matmul", "tiled", "tile=8", *here], ["matmul", "tiled", *here, "tile=8"]):
        assert json.loads(cli(capsys, "resources", *words))[0]["block"] == [8, 8, 1]
    of_which = "pass a variant of matmul: naive, "
    assert of_which in cli(capsys, "occupancy", "matmul", "tile=8", "--backend", backend, status=2)
    every = json.loads(cli(capsys, "resources", "matmul", "tile=8", *here))
    assert {one["block"][0] for one in every if one["variant"].startswith("tiled")} == {8}
    assert "naive" in {one["variant"] for one in every}
    assert "no variant of matmul has a parameter 'tiles'" in cli(capsys, "resources", "matmul", "tiles=8", status=2)
    assert "pass an operation:" in cli(capsys, "resources", "tile=8", status=2)
    assert "128 threads" in cli(capsys, "occupancy", "threads=128", "capability=V100")


@each_backend
def test_resources_on_the_command_line(backend, capsys):
    words = cli(capsys, "resources", "matmul", "--backend", backend)
    assert all(variant.name in words for variant in ck.variants("matmul") if not variant.on_host)
    line = ("resources", "matmul", "tiled", "--dtype", "float64", "--json", "--backend", backend)
    plain = json.loads(cli(capsys, *line))
    assert [(one["kernel"], one["dtype"]) for one in plain] == [("tiled", "float64")]
    assert "tiled" in cli(capsys, "resources", "matmul", "tyled", "--backend", backend, status=2)
