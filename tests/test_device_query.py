"""device_query: the properties of a device."""

import json
import shutil
import subprocess

import pytest

import cudakern as ck
from cases import BACKENDS, cli
from cases import emulated_chip as emulated

each_backend = pytest.mark.parametrize("backend", BACKENDS)


#: The lines of the slide in source P, and the attributes with their values.
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
        query = ck.device_query()
    words, at = str(query), 0
    plain = json.loads(json.dumps(query.to_dict()))
    for line, attributes in SLIDE:
        at = words.index(line, at)
        for name in attributes:
            assert getattr(query, name) is not None
            assert name in plain
    assert repr(query) == words
    assert query.name in words
    assert "<table>" in query._repr_html_()
    assert query.clock_khz > 0
    assert query.cores == query.multiprocessors * query.cores_per_multiprocessor


@pytest.mark.proves("device_query")
def test_the_slides_chip():
    """The slide shows a Quadro GV100, which has the V100's chip: all figures of the chip (not of the card) agree."""
    with ck.use_backend("emulator"), emulated("V100"):
        query = ck.device_query()
        words = str(query)
    assert query.capability == (7, 0)
    assert (query.multiprocessors, query.cores_per_multiprocessor) == (80, 64)
    assert (query.memory_bus_bits, query.l2_bytes) == (4096, 6291456)
    assert "1D=(131072), 2D=(131072, 65536), 3D=(16384, 16384, 16384)" in words
    assert (query.texture_1d_layered, query.texture_2d_layered) == ((32768, 2048), (32768, 32768, 2048))
    assert (query.total_constant, query.shared_per_block, query.registers_per_block) == (65536, 49152, 65536)
    assert (query.warp_size, query.max_threads_per_multiprocessor, query.max_threads_per_block) == (32, 2048, 1024)
    assert query.max_block_dims == (1024, 1024, 64)
    assert query.max_grid == (2147483647, 65535, 65535)
    assert (query.max_pitch, query.texture_alignment) == (2147483647, 512)


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
        """Compared with the driver's management library, through nvidia-smi, which is part of every driver."""
        fields = "pci.bus_id,name,memory.total,compute_cap,clocks.max.sm,clocks.max.memory,ecc.mode.current"
        if shutil.which("nvidia-smi") is None:
            pytest.skip("no nvidia-smi")
        line = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        output = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout
        cards = [[field.strip() for field in card.split(",")] for card in output.splitlines()]
        with ck.use_backend("cuda"):
            query = ck.device_query()
        bus = "{:08X}:{:02X}:{:02X}.0".format(*query.pci)
        mine = [card for card in cards if card[0].upper() == bus]
        assert len(mine) == 1, (bus, cards)
        _, name, memory, capability, clock, memory_clock, ecc = mine[0]
        assert query.name == name
        assert (
            0.97 * float(memory) <= query.memory_bytes / 2**20 <= float(memory)
        )  # NVML includes what the system reserves
        assert ".".join(map(str, query.capability)) == capability
        assert query.clock_khz == 1000 * int(clock)
        assert query.memory_clock_khz == 1000 * int(memory_clock)
        assert query.ecc == (ecc == "Enabled")

    def test_against_cupy():
        cupy = pytest.importorskip("cupy")
        with ck.use_backend("cuda"):
            query = ck.device_query()
        theirs = cupy.cuda.runtime.getDeviceProperties(query.index)
        names = {
            "name": query.name.encode(),
            "multiProcessorCount": query.multiprocessors,
            "major": query.capability[0],
            "minor": query.capability[1],
            "memoryBusWidth": query.memory_bus_bits,
            "l2CacheSize": query.l2_bytes,
            "maxTexture1D": query.texture_1d,
            "maxTexture2D": query.texture_2d,
            "maxTexture3D": query.texture_3d,
            "totalConstMem": query.total_constant,
            "sharedMemPerBlock": query.shared_per_block,
            "sharedMemPerBlockOptin": query.shared_per_block_optin,
            "sharedMemPerMultiprocessor": query.shared_per_multiprocessor,
            "regsPerBlock": query.registers_per_block,
            "warpSize": query.warp_size,
            "maxThreadsPerMultiProcessor": query.max_threads_per_multiprocessor,
            "maxThreadsPerBlock": query.max_threads_per_block,
            "maxThreadsDim": query.max_block_dims,
            "maxGridSize": query.max_grid,
            "memPitch": query.max_pitch,
            "textureAlignment": query.texture_alignment,
            "asyncEngineCount": query.async_engines,
            "clockRate": query.clock_khz,
            "memoryClockRate": query.memory_clock_khz,
        }
        # CuPy's version of CUDA determines which of these exist.
        shared = {name: value for name, value in names.items() if name in theirs}
        assert len(shared) >= 12
        assert {
            name: tuple(theirs[name]) if isinstance(value, tuple) else theirs[name] for name, value in shared.items()
        } == (shared)


@each_backend
def test_query_on_the_command_line(backend):
    with ck.use_backend(backend):
        words = str(ck.device_query())
        plain = ck.device_query().to_dict()
    assert cli("query", "--backend", backend).strip() == words
    assert json.loads(cli("query", "--json", "--backend", backend)) == json.loads(json.dumps(plain))
    assert "999" in cli("query", "--device", "999", "--backend", backend, status=2)
