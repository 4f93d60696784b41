"""The occupancy calculator: compared with published examples and with CUDA's own functions."""

import json

import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, cli
from cases import emulated_chip as emulated
from cudakern.calls.observer import Observer, observed
from cudakern.chips.chip import CHIPS, MULTIPROCESSORS
from cudakern.measure import recorded
from cudakern.measure import resources as resources_module
from cudakern.operations.registry import operation

each_backend = pytest.mark.parametrize("backend", BACKENDS)

# P: "a P100 has 256 KB of registers, 64 KB of shared memory, 64 warps and 32 blocks per multiprocessor".
P100 = 6.0


@pytest.mark.proves("occupancy")
@pytest.mark.parametrize("registers, share", [(32, 1), (64, 0.5)])
@pytest.mark.parametrize("threads", [64, 128, 256, 512])
def test_first_example_registers(threads, registers, share):
    result = ck.occupancy(threads=threads, registers=registers, capability=P100)
    assert result.occupancy == share
    assert result.active_threads == 256 * 1024 // (4 * registers) == 2048 * share
    assert "registers" in result.limited_by


@pytest.mark.parametrize("bytes_a_thread, share", [(32, 1), (64, 0.5)])
@pytest.mark.parametrize("threads", [64, 128, 256, 512])
def test_second_example_shared_memory(threads, bytes_a_thread, share):
    result = ck.occupancy(threads=threads, shared_bytes=threads * bytes_a_thread, capability=P100)
    assert result.occupancy == share
    assert result.active_threads == 64 * 1024 // bytes_a_thread == 2048 * share
    assert "shared memory" in result.limited_by


def test_third_example_block_size():
    result = ck.occupancy(threads=32, capability=P100)
    assert result.occupancy == 32 * 32 / 2048 == 0.5
    assert result.limited_by == ("blocks",)
    assert ck.occupancy(threads=64, capability=P100).occupancy == 1


@pytest.mark.proves("occupancy")
def test_the_page_of_the_calculator():
    """The page in source P for 7.0: 320 threads, 32,768 bytes per multiprocessor. Its results: 4 blocks, 40 warps, 1280
    threads, limited by registers to 48 warps. 37 to 40 registers have this result. ("32 registers" would allow 64.)"""
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
    assert ck.occupancy(threads=320, registers=41, capability=7.0).active_blocks == 4  # 11 warps per partition
    assert ck.occupancy(threads=320, registers=49, capability=7.0).active_blocks == 3


def test_the_documents_tables():
    """The table of technical specifications in source P, and its page on three chips."""
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
    """The active blocks fit the multiprocessor, and one more block does not."""
    chip = MULTIPROCESSORS[number]
    random = np.random.default_rng(number)
    answers = set()
    for _ in range(300):
        threads = int(random.integers(1, 1025))
        registers = int(random.integers(0, 256))
        shared = int(random.integers(0, chip.shared_per_block + 1)) if random.random() < 0.7 else 0
        result = ck.occupancy(threads=threads, registers=registers, shared_bytes=shared, capability=number)
        answers.update(result.limited_by)
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
        assert result.active_blocks == 0 if refused else fits(result.active_blocks)
        assert refused or not fits(result.active_blocks + 1)
        assert 0 <= result.occupancy <= 1
    assert {"warps", "registers", "shared memory"} <= answers


def test_what_is_newer_than_the_documents():
    """Figures of the programming guide for 9.0: 1 KB per block is for the system, and a block has at most 227 KB."""
    assert ck.occupancy(threads=32, shared_bytes=227 * 1024, capability=9.0).active_blocks == 1
    assert ck.occupancy(threads=32, shared_bytes=227 * 1024 + 1, capability=9.0).active_blocks == 0
    assert ck.occupancy(threads=32, shared_bytes=113 * 1024, capability=9.0).active_blocks == 2
    assert ck.occupancy(threads=32, shared_bytes=113 * 1024 + 1, capability=9.0).active_blocks == 1
    assert ck.occupancy(threads=1024, capability=8.6).occupancy == 32 / 48
    assert ck.occupancy(threads=32, capability=12.0).occupancy == 24 / 48
    assert ck.occupancy(threads=1024, registers=65, capability=9.0).active_blocks == 0  # a single block does not fit


def test_how_a_capability_is_written():
    result = [ck.occupancy(threads=64, capability=c).capability for c in (8.6, "8.6", (8, 6), 86, "86")]
    assert set(result) == {(8, 6)}
    assert {ck.occupancy(threads=64, capability=c).capability for c in (9, 9.0, "9", "9.0", 90, "90")} == {(9, 0)}
    assert ck.occupancy(threads=64, capability="12.0").capability == (12, 0)
    assert ck.occupancy(threads=64).capability == tuple(ck.backend().properties["capability"])


def test_the_emulators_chips_by_name():
    """The calculator and the emulator read the facts about chips from one file, so device_query() of an emulated chip
    agrees with the calculator's figures for the chip of that name, on every backend."""
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
    with pytest.raises(TypeError, match="or a chip \\(H200, H200-1G, H100, A100, V100, P100\\), not 'K80'"):
        ck.occupancy(threads=64, capability="K80")


@pytest.mark.parametrize(
    "kind, words, arguments",
    [
        (TypeError, "pass threads=", {}),
        (TypeError, "threads must be an integer", {"threads": 32.5}),
        (ValueError, "threads must be from 1", {"threads": 0}),
        (ValueError, "from 1 to 1024", {"threads": 1025}),
        (ValueError, "from 0 to 255", {"threads": 32, "registers": 256}),
        (ValueError, "shared_bytes must be 0 or more, not -1", {"threads": 32, "shared_bytes": -1}),
        (ValueError, "3.5, 3.7, .* 12.0", {"threads": 32, "capability": 3.0}),
        (ValueError, "no data", {"threads": 32, "capability": 9.05}),
        (TypeError, "must be 9.0", {"threads": 32, "capability": None.__class__}),
        (TypeError, "must be 9.0", {"threads": 32, "capability": "nine"}),
        (ValueError, "from 0 to 98304", {"threads": 32, "capability": 7.0, "shared_config": 100000}),
        (TypeError, "needs an operation", {"threads": 32, "variant": "tiled"}),
        (TypeError, "needs an operation.*without them it takes .*shared_bytes, cap", {"threads": 32, "shared": 8}),
    ],
)
def test_bad_input(kind, words, arguments):
    with pytest.raises(kind, match=words):
        ck.occupancy(**arguments)


def test_blocks_that_do_not_fit():
    """What was requested, what the chip allows, and what to do."""
    words = " ".join(repr(ck.occupancy(threads=256, shared_bytes=300_000, capability=9.0)).split())
    assert "300,000 B of shared memory" in words
    assert "at most 232,448 B per block" in words
    assert "No block fits, so a launch would fail: pass a smaller shared_bytes=." in words
    words = " ".join(repr(ck.occupancy(threads=1024, registers=200, capability=9.0)).split())
    assert "at most 65,536 per block" in words
    assert "pass a smaller registers= or threads=." in words


def test_what_an_occupancy_shows(tmp_path):
    result = ck.occupancy(threads=256, registers=64, shared_bytes=20000, capability=9.0)
    words = repr(result)
    for what in ("256 threads", "64 registers", "20,000 B", "9.0", "Limited by registers.", "occupancy 50.0%"):
        assert what in words
    assert "<table>" in result._repr_html_()
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["limited_by"] == ["registers"]
    assert [limit["name"] for limit in plain["limits"]] == ["warps", "blocks", "registers", "shared memory"]
    unknown = ck.occupancy(threads=256, capability=9.0)
    assert "an unknown number of registers" in repr(unknown)
    assert unknown.limits[2].blocks is None

    curves = result.curves()
    assert list(curves) == ["threads", "registers", "shared_bytes"]
    for name, points in curves.items():
        for value, warps in points[:: len(points) // 7]:
            assert warps == result.varied(**{name: value}).active_warps
        assert len({warps for _, warps in points}) > 2
    assert list(unknown.curves()) == ["threads", "shared_bytes"]
    for each in (result, unknown):
        picture = each.plot(tmp_path / "curves.png")
        assert len(picture.axes) == len(each.curves())
        assert (tmp_path / "curves.png").stat().st_size > 1000
        markers = [axes.lines[1].get_xydata()[0].tolist() for axes in picture.axes]
        assert all(y == each.active_warps for _, y in markers)


@pytest.mark.parametrize("wrong", [{"registers": "x"}, {"shared_bytes": "x"}])
def test_max_potential_block_size_names_itself(wrong):
    with pytest.raises(TypeError, match="^max_potential_block_size: "):
        ck.max_potential_block_size(**wrong, capability=9.0, multiprocessors=1)


def test_max_potential_block_size():
    """Compared with a search through all block sizes."""
    for registers, shared, number in [(32, 0, 90), (40, 0, 70), (64, 0, 86), (128, 0, 60), (32, 20000, 80)]:
        grid, threads = ck.max_potential_block_size(
            registers=registers, shared_bytes=shared, capability=number, multiprocessors=10
        )
        all_sizes = [
            ck.occupancy(threads=t, registers=registers, shared_bytes=shared, capability=number)
            for t in range(32, 1025, 32)
        ]
        most = max(result.active_threads for result in all_sizes)
        best = max((result for result in all_sizes if result.active_threads == most), key=lambda result: result.threads)
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


class Swept(Observer):
    """Lists launches without running them, with active blocks for each pair of threads and dynamic shared memory."""

    def __init__(self, sweep):
        self.kernels, self.sweep = [], sweep

    def kernel(self, run):
        self.kernels += run.launches(self.sweep)


def kernels_of(op, variant, sweep=()):
    what = operation(op)
    inputs = what.make(what.default_shape, np.dtype(ck.variants(op)[variant].types[0]), 0)
    with observed(Swept(sweep)) as swept:
        what.call(*inputs, variant=variant)
    return swept.kernels


@pytest.mark.proves("occupancy")
@each_backend
@pytest.mark.parametrize(
    "op, variant", [("sum_of_squares", "vectorized"), ("matmul", "tiled"), ("vector_add", "naive")]
)
def test_against_cudas_function_over_a_sweep(backend, op, variant):
    """cudaOccupancyMaxActiveBlocksPerMultiprocessor of compiled kernels, for many sizes of blocks and shared memory."""
    with ck.use_backend(backend):
        assert len(SWEEP) <= 256
        kernel = kernels_of(op, variant, SWEEP)[0]
        registers = kernel["registers"] or None
        answers = set()
        for (threads, shared), blocks in zip(SWEEP, kernel["swept"], strict=True):
            mine = ck.occupancy(threads=threads, registers=registers, shared_bytes=shared + kernel["static_shared"])
            # (CUDA's function ignores a kernel's launch bounds: on an H200 it accepts 320 threads for a bound of 256.)
            allowed = shared <= kernel["max_dynamic_shared"]
            expected = mine.active_blocks if allowed else 0
            assert blocks == expected, (threads, shared, kernel)
            answers.add(blocks)
        assert len(answers) > 8


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
            resources = ck.kernel_resources(op, variant)[0]
            assert (resources.active_blocks, resources.potential_block) == (kernel["active_blocks"], tuple(mine))


@pytest.mark.parametrize("chip, capability", [("H200", 9.0), ("A100", 8.0), ("V100", 7.0)])
def test_the_emulator_has_the_calculators_answers(chip, capability):
    """For every chip, also with shared memory beyond the 48 KB that need no opt-in. (For chips with fewer than 64
    multiprocessors, the emulator reports what it can keep resident: docs/emulator.md.)"""
    with ck.use_backend("emulator"), emulated(chip):
        kernel = kernels_of("vector_add", "naive", SWEEP)[0]
        for (threads, shared), blocks in zip(SWEEP, kernel["swept"], strict=True):
            mine = ck.occupancy(threads=threads, shared_bytes=shared, capability=capability)
            assert blocks == mine.active_blocks, (threads, shared)


def test_occupancy_on_the_command_line(tmp_path):
    page = ("occupancy", "--threads", "320", "--registers", "40", "--capability", "7.0", "--shared-config", "32768")
    assert "occupancy 62.5%" in cli(*page)
    plain = json.loads(cli(*page, "--json"))
    assert (plain["active_blocks"], plain["active_warps"], plain["limited_by"]) == (4, 40, ["registers"])
    assert "matmul, tiled" in cli("occupancy", "matmul", "tiled", "--registers", "32")
    assert json.loads(cli("occupancy", "--threads", "64", "--shared", "1000", "--json"))["shared_bytes"] == 1000
    assert "pass threads=" in cli("occupancy", status=2)
    assert "pass a variant of matmul" in cli("occupancy", "matmul", status=2)
    assert "no data" in cli("occupancy", "--threads", "64", "--capability", "2.0", status=2)
    cli(*page, "--plot", str(tmp_path / "curves.svg"))
    assert (tmp_path / "curves.svg").stat().st_size > 1000


def test_a_named_kernel_without_a_report(backend, monkeypatch):
    """Unknown figures are noted, and do not count as 0; the other kernels of the call are named."""
    monkeypatch.setattr(resources_module, "_built", lambda symbol, capability: (None, "nobody looked"))
    monkeypatch.setattr(recorded, "compiled", lambda symbol: None)
    monkeypatch.setattr("cudakern.own.reports.nvcc", lambda: None)
    result = ck.occupancy("matmul", "tiled", tile=32)
    if ck.kernel_resources("matmul", "tiled")[0].source == "driver":
        assert result.note == ""
        return
    assert "0 B of dynamic shared memory" in " ".join(repr(result).split())
    assert "occupancy at most 100.0%" in repr(result)
    assert "The number of registers is not known (nobody looked)" in result.note
    assert "The static shared memory is not known (nobody looked)" in result.note
    arguments = ck.occupancy("matmul", "tiled", tile=32, registers=40, shared_bytes=8192)
    assert (arguments.note, arguments.static_unknown) == ("", False)
    assert "sort_samples" in ck.occupancy("sort", "sample_sort").note


def test_registers_are_those_of_the_chip_that_the_code_was_made_for(backend):
    of_here, of_another = (ck.occupancy("matmul", "tiled", capability=c) for c in (9.0, 8.6))
    made_for = ck.kernel_resources("matmul", "tiled")[0].capability
    if made_for is None:  # a build without nvcc
        assert "are not known here" in of_another.note
        return
    assert [c for c, result in (("9.0", of_here), ("8.6", of_another)) if not result.note] == [made_for]
    assert of_another.note == f"The registers are those of the code for {made_for}; a build for 8.6 may differ."
    assert ck.occupancy("matmul", "tiled", registers=40, capability=8.6).note == ""


def test_a_variants_own_threads_change_its_shared_memory():
    """``threads=`` is both the block size and the variant's parameter."""
    variant = ("sum_of_squares", "tree_sequential")
    launch = ck.occupancy(*variant, threads=512, registers=20)
    assert (launch.threads, launch.shared_bytes) == (512, ck.kernel_resources(*variant, threads=512)[0].shared_bytes)
    assert launch.shared_bytes > ck.occupancy(*variant, registers=20).shared_bytes
    with pytest.raises(ValueError, match="`threads`.* must be .*, not 2000"):
        ck.occupancy(*variant, threads=2000)
    assert ck.occupancy("matmul", "tiled", threads=64, registers=20).threads == 64  # tiled has no such parameter
