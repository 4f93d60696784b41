"""device_query: the properties of a device."""

import json
import shutil
import subprocess

import pytest

import cudakern as ck
from cases import BACKENDS, cli
from cases import emulated_chip as emulated

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


@each_backend
def test_query_on_the_command_line(backend, capsys):
    with ck.use_backend(backend):
        words = str(ck.device_query())
        plain = ck.device_query().to_dict()
    assert cli(capsys, "query", "--backend", backend).strip() == words
    assert json.loads(cli(capsys, "query", "--json", "--backend", backend)) == json.loads(json.dumps(plain))
    assert "999" in cli(capsys, "query", "--device", "999", "--backend", backend, status=2)
