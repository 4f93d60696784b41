"""A device's properties, as CUDA's sample deviceQuery prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _display
from ._backend import Device, resolve
from ._chip import MULTIPROCESSORS

COMPUTE_MODES = ("default", "exclusive", "prohibited", "exclusive process")

#: The attributes in a notebook's table, by the first words of their lines below; the other lines fold out.
MAIN = (
    "CUDA driver",
    "CUDA capability",
    "Total amount of global",
    "Multiprocessors",
    "GPU's highest clock",
    "Memory clock",
    "Memory bus",
    "L2 cache",
    "... by opt-in",
    "Total shared memory per multiprocessor",
    "Total number of registers",
    "Maximum number of threads per multiprocessor",
    "Maximum number of threads per block",
)

#: deviceQuery's lines, in its order: a label, and a format of DeviceQuery's attributes.
LINES = (
    ("CUDA driver version / runtime version", "{driver_version} / {runtime_version}"),
    ("CUDA capability, major.minor", "{capability}"),
    ("Total amount of global memory", "{memory_mib:,.0f} MiB ({memory_bytes} bytes)"),
    ("Multiprocessors, CUDA cores each", "({multiprocessors}), ({cores_per_multiprocessor}){cores}"),
    ("GPU's highest clock rate", "{clock_khz}"),
    ("Memory clock rate", "{memory_clock_khz}"),
    ("Memory bus width", "{memory_bus_bits}-bit"),
    ("L2 cache size", "{l2_bytes} bytes"),
    ("Maximum texture dimension size (x,y,z)", "1D=({texture_1d}), 2D={texture_2d}, 3D={texture_3d}"),
    ("Maximum layered 1D texture size, layers", "1D=({texture_1d_layered[0]}), {texture_1d_layered[1]} layers"),
    ("Maximum layered 2D texture size, layers", "2D={width_and_height}, {texture_2d_layered[2]} layers"),
    ("Total amount of constant memory", "{total_constant} bytes"),
    ("Total amount of shared memory per block", "{shared_per_block} bytes"),
    ("... by opt-in", "{shared_per_block_optin} bytes"),
    ("Total shared memory per multiprocessor", "{shared_per_multiprocessor} bytes"),
    ("Total number of registers per block", "{registers_per_block}"),
    ("Warp size", "{warp_size}"),
    ("Maximum number of threads per multiprocessor", "{max_threads_per_multiprocessor}"),
    ("Maximum number of blocks per multiprocessor", "{max_blocks_per_multiprocessor}"),
    ("Maximum number of threads per block", "{max_threads_per_block}"),
    ("Maximum size of a block (x,y,z)", "{max_block_dims}"),
    ("Maximum size of a grid (x,y,z)", "{max_grid}"),
    ("Maximum memory pitch", "{max_pitch} bytes"),
    ("Texture alignment", "{texture_alignment} bytes"),
    ("Concurrent copy and kernel execution", "{copies_overlap} with {async_engines} copy engine(s)"),
    ("Run time limit on kernels", "{kernel_timeout}"),
    ("Integrated GPU sharing host memory", "{integrated}"),
    ("Support for mapped page-locked host memory", "{maps_host_memory}"),
    ("Surface alignment", "{surface_alignment} bytes"),
    ("ECC enabled", "{ecc}"),
    ("TCC driver", "{tcc_driver}"),
    ("Unified addressing", "{unified_addressing}"),
    ("Managed memory", "{managed_memory}"),
    ("Compute preemption", "{compute_preemption}"),
    ("Cooperative launch", "{cooperative}"),
    ("PCI domain ID / bus ID / location ID", "{pci[0]} / {pci[1]} / {pci[2]}"),
    ("Compute mode", "{compute_mode}"),
)


@dataclass(frozen=True, repr=False)
class DeviceQuery(_display.Shown):
    """A device's properties as attributes; ``str()`` is deviceQuery's text."""

    backend: str  #: "cuda" or "emulator"
    index: int
    count: int  #: devices of the backend
    name: str
    driver_version: tuple[int, int]
    runtime_version: tuple[int, int]
    capability: tuple[int, int]
    memory_bytes: int
    multiprocessors: int
    cores_per_multiprocessor: int | None  #: float32 lanes; None: a capability that our table lacks
    clock_khz: int  #: the highest; 0 if the driver does not report it
    memory_clock_khz: int
    memory_bus_bits: int
    l2_bytes: int
    texture_1d: int
    texture_2d: tuple[int, int]
    texture_3d: tuple[int, int, int]
    texture_1d_layered: tuple[int, int]  #: size, layers
    texture_2d_layered: tuple[int, int, int]  #: sizes, layers
    total_constant: int
    shared_per_block: int
    shared_per_block_optin: int
    shared_per_multiprocessor: int
    registers_per_block: int
    warp_size: int
    max_threads_per_multiprocessor: int
    max_blocks_per_multiprocessor: int
    max_threads_per_block: int
    max_block_dims: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    max_pitch: int
    texture_alignment: int
    surface_alignment: int
    copies_overlap: bool  #: with kernels
    async_engines: int  #: that can copy
    kernel_timeout: bool
    integrated: bool
    maps_host_memory: bool
    ecc: bool
    tcc_driver: bool
    unified_addressing: bool
    managed_memory: bool
    compute_preemption: bool
    cooperative: bool
    pci: tuple[int, int, int]  #: domain, bus, device
    compute_mode: str

    @property
    def cores(self) -> int | None:
        """float32 lanes of the chip."""
        lanes = self.cores_per_multiprocessor
        return None if lanes is None else lanes * self.multiprocessors

    def lines(self) -> list[tuple[str, str]]:
        """(label, value) in deviceQuery's order."""
        words = self.to_dict()
        words |= {name: "Yes" if value else "No" for name, value in words.items() if isinstance(value, bool)}
        words |= {name: _rate(words[name]) for name in ("clock_khz", "memory_clock_khz")}
        for name in ("driver_version", "runtime_version", "capability"):
            words[name] = ".".join(map(str, words[name]))
        words["memory_mib"] = self.memory_bytes / 2**20
        words["width_and_height"] = self.texture_2d_layered[:2]
        words["cores"] = "" if self.cores is None else f": {self.cores:,} CUDA cores"
        if self.cores is None:
            words["cores_per_multiprocessor"] = "?"
        return [(what, line.format_map(words)) for what, line in LINES]

    @property
    def title(self) -> str:
        """The heading: which device of how many."""
        return f'Device {self.index} of {self.count} ({self.backend}): "{self.name}"'

    def table(self, all: bool = False) -> _display.Table:
        """The most important lines, or ``all`` of them."""
        lines = [line for line in self.lines() if all or line[0].startswith(MAIN)]
        return _display.facts(lines, self.title, "" if all else "table(all=True) has all lines.")

    def _repr_html_(self) -> str:
        main = _display.facts(self.table().rows, self.title).html()
        rest = _display.facts([line for line in self.lines() if not line[0].startswith(MAIN)]).html()
        return f"{main}<details><summary>All other limits and features</summary>{rest}</details>"

    def __repr__(self) -> str:
        lines = self.lines()
        width = max(len(what) for what, _ in lines)
        return "\n".join([self.title, *(f"  {what + ':':<{width + 2}}{value}" for what, value in lines)])

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"cores": self.cores}


def _rate(khz: int) -> str:
    if not khz:
        return "not reported by the driver"
    return f"{khz / 1000:,.0f} MHz" + (f" ({khz / 1e6:.2f} GHz)" if khz >= 1e6 else "")


def device_query(device: int | Device | None = None) -> DeviceQuery:
    """All properties of a device that CUDA's sample deviceQuery prints.

    Parameters
    ----------
    device : int or Device, optional
        One of ``devices()``. Default: the current one.

    Returns
    -------
    DeviceQuery
        It has attributes and ``to_dict()``; ``print(device_query())`` prints deviceQuery's text. The emulator reports
        the chip that ``emulator.configure(chip=)`` names.

    Raises
    ------
    TypeError, ValueError
        ``device`` is not an index or a Device; it does not exist, or belongs to another backend.

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
    each = MULTIPROCESSORS.get(10 * major + minor)
    mode = properties["compute_mode"]
    values = properties | {
        "backend": native.backend_name(),
        "index": index,
        "count": native.device_count(),
        "cores_per_multiprocessor": None if each is None else each.float32,
        "compute_mode": COMPUTE_MODES[mode] if mode < len(COMPUTE_MODES) else str(mode),
    }
    for name in ("driver_version", "runtime_version"):
        values[name] = (properties[name] // 1000, properties[name] % 1000 // 10)
    return DeviceQuery(**{name: values[name] for name in DeviceQuery.__dataclass_fields__})
