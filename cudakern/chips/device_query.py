"""A device's properties, as CUDA's sample deviceQuery prints them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from .. import _display
from .._backend import Device, resolve
from .chip import MULTIPROCESSORS

COMPUTE_MODES = ("default", "exclusive", "prohibited", "exclusive process")
#: Texts of long lines.
CORES = "({multiprocessors}), ({}){cores}"
TEXTURES = "1D=({texture_1d}), 2D={texture_2d}, 3D={}"
LAYERS = "2D=({0[0]}, {0[1]}), {0[2]} layers"


def _line(label: str, text: str = "{}", important: bool = False) -> Any:
    """A line of deviceQuery; in ``text``, {} is the attribute's value. Notebooks fold lines that are not important."""
    return field(metadata={"label": label, "text": text, "important": important})


@dataclass(frozen=True, repr=False, kw_only=True)
class DeviceQuery(_display.Shown):
    """A device's properties as attributes, in the order of deviceQuery's lines; ``str()`` is deviceQuery's text."""

    backend: str  #: "cuda" or "emulator"
    index: int
    count: int  #: devices of the backend
    name: str
    driver_version: tuple[int, int]
    runtime_version: tuple[int, int] = _line("CUDA driver version / runtime version", "{driver_version} / {}", True)
    capability: tuple[int, int] = _line("CUDA capability, major.minor", important=True)
    memory_bytes: int = _line("Total amount of global memory", "{memory_mib:,.0f} MiB ({} bytes)", True)
    multiprocessors: int
    #: float32 lanes; None: a capability that our table lacks
    cores_per_multiprocessor: int | None = _line("Multiprocessors, CUDA cores each", CORES, True)
    clock_khz: int = _line("GPU's highest clock rate", important=True)  #: 0 if the driver does not report it
    memory_clock_khz: int = _line("Memory clock rate", important=True)
    memory_bus_bits: int = _line("Memory bus width", "{}-bit", True)
    l2_bytes: int = _line("L2 cache size", "{} bytes", True)
    texture_1d: int
    texture_2d: tuple[int, int]
    texture_3d: tuple[int, int, int] = _line("Maximum texture dimension size (x,y,z)", TEXTURES)
    #: size, layers
    texture_1d_layered: tuple[int, int] = _line("Maximum layered 1D texture size, layers", "1D=({0[0]}), {0[1]} layers")
    #: sizes, layers
    texture_2d_layered: tuple[int, int, int] = _line("Maximum layered 2D texture size, layers", LAYERS)
    total_constant: int = _line("Total amount of constant memory", "{} bytes")
    shared_per_block: int = _line("Total amount of shared memory per block", "{} bytes")
    shared_per_block_optin: int = _line("... by opt-in", "{} bytes", True)
    shared_per_multiprocessor: int = _line("Total shared memory per multiprocessor", "{} bytes", True)
    registers_per_block: int = _line("Total number of registers per block", important=True)
    warp_size: int = _line("Warp size")
    max_threads_per_multiprocessor: int = _line("Maximum number of threads per multiprocessor", important=True)
    max_blocks_per_multiprocessor: int = _line("Maximum number of blocks per multiprocessor")
    max_threads_per_block: int = _line("Maximum number of threads per block", important=True)
    max_block_dims: tuple[int, int, int] = _line("Maximum size of a block (x,y,z)")
    max_grid: tuple[int, int, int] = _line("Maximum size of a grid (x,y,z)")
    max_pitch: int = _line("Maximum memory pitch", "{} bytes")
    texture_alignment: int = _line("Texture alignment", "{} bytes")
    copies_overlap: bool  #: with kernels
    async_engines: int = _line("Concurrent copy and kernel execution", "{copies_overlap} with {} copy engine(s)")
    kernel_timeout: bool = _line("Run time limit on kernels")
    integrated: bool = _line("Integrated GPU sharing host memory")
    maps_host_memory: bool = _line("Support for mapped page-locked host memory")
    surface_alignment: int = _line("Surface alignment", "{} bytes")
    ecc: bool = _line("ECC enabled")
    tcc_driver: bool = _line("TCC driver")
    unified_addressing: bool = _line("Unified addressing")
    managed_memory: bool = _line("Managed memory")
    compute_preemption: bool = _line("Compute preemption")
    cooperative: bool = _line("Cooperative launch")
    #: domain, bus, device
    pci: tuple[int, int, int] = _line("PCI domain ID / bus ID / location ID", "{0[0]} / {0[1]} / {0[2]}")
    compute_mode: str = _line("Compute mode")

    @property
    def cores(self) -> int | None:
        """float32 lanes of the chip."""
        lanes = self.cores_per_multiprocessor
        return None if lanes is None else lanes * self.multiprocessors

    def lines(self, important: bool | None = None) -> list[tuple[str, str]]:
        """(label, value) in deviceQuery's order: all, or only the ``important`` lines, or (False) only the others."""
        words = self.to_dict()
        words |= {name: "Yes" if value else "No" for name, value in words.items() if isinstance(value, bool)}
        words |= {name: _rate(words[name]) for name in ("clock_khz", "memory_clock_khz")}
        for name in ("driver_version", "runtime_version", "capability"):
            words[name] = ".".join(map(str, words[name]))
        words["memory_mib"] = self.memory_bytes / 2**20
        words["cores_per_multiprocessor"] = self.cores_per_multiprocessor or "?"
        words["cores"] = f": {self.cores:,} CUDA cores" if self.cores else ""
        return [
            (line.metadata["label"], line.metadata["text"].format(words[line.name], **words))
            for line in fields(self)
            if line.metadata and important in (None, line.metadata["important"])
        ]

    @property
    def title(self) -> str:
        """The heading: which device of how many."""
        return f'Device {self.index} of {self.count} ({self.backend}): "{self.name}"'

    def table(self, all: bool = False) -> _display.Table:
        """The most important lines, or ``all`` of them."""
        lines = self.lines(None if all else True)
        return _display.facts(lines, self.title, "" if all else "table(all=True) has all lines.")

    def _repr_html_(self) -> str:
        important = _display.facts(self.lines(True), self.title).html()
        others = _display.facts(self.lines(False)).html()
        return f"{important}<details><summary>All other limits and features</summary>{others}</details>"

    def __repr__(self) -> str:
        lines = self.lines()
        width = max(len(label) for label, _ in lines) + 2
        return "\n".join([self.title, *(f"  {label + ':':<{width}}{value}" for label, value in lines)])

    def to_dict(self) -> dict[str, Any]:
        return vars(self) | {"cores": self.cores}


def _rate(khz: int) -> str:
    gigahertz = f" ({khz / 1e6:.2f} GHz)" if khz >= 1e6 else ""
    return f"{khz / 1000:,.0f} MHz{gigahertz}" if khz else "not reported by the driver"


def device_query(device: int | Device | None = None) -> DeviceQuery:
    """The properties of a device that CUDA's sample deviceQuery prints; they print as its text.

    The emulator reports the chip that ``emulator.configure(chip=)`` names.

    Parameters
    ----------
    device : int or Device, optional
        One of ``devices()``. Default: the current one. A TypeError or ValueError for anything else.

    Examples
    --------
    >>> import cudakern
    >>> device = cudakern.device_query()
    >>> device.warp_size, device.max_threads_per_block
    (32, 1024)
    """
    native, index = resolve(device)
    properties = native.device_properties(index)
    major, minor = properties["capability"]
    chip = MULTIPROCESSORS.get(10 * major + minor)
    mode = properties["compute_mode"]
    values = properties | {"backend": native.backend_name(), "index": index, "count": native.device_count()}
    values["cores_per_multiprocessor"] = chip and chip.float32
    values["compute_mode"] = COMPUTE_MODES[mode] if mode < len(COMPUTE_MODES) else str(mode)
    for name in ("driver_version", "runtime_version"):  # CUDA encodes 13.0 as 13000
        values[name] = (properties[name] // 1000, properties[name] % 1000 // 10)
    return DeviceQuery(**{name: values[name] for name in DeviceQuery.__dataclass_fields__})
