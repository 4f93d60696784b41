"""A device's properties, as CUDA's sample deviceQuery prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _display
from ._chip import MULTIPROCESSORS
from ._devices import Device, resolve

COMPUTE_MODES = ("default", "exclusive", "prohibited", "exclusive process")

#: deviceQuery's lines, in its order: a label, a format of attributes, and whether the line is one of the important
#: ones. In a notebook, the other lines fold out.
LINES = (
    ("CUDA driver version / runtime version", "{driver_version} / {runtime_version}", True),
    ("CUDA capability, major.minor", "{capability}", True),
    ("Total amount of global memory", "{memory_mib:,.0f} MiB ({memory_bytes} bytes)", True),
    ("Multiprocessors, CUDA cores each", "({multiprocessors}), ({cores_per_multiprocessor}){cores}", True),
    ("GPU's highest clock rate", "{clock_khz}", True),
    ("Memory clock rate", "{memory_clock_khz}", True),
    ("Memory bus width", "{memory_bus_bits}-bit", True),
    ("L2 cache size", "{l2_bytes} bytes", True),
    ("Maximum texture dimension size (x,y,z)", "1D=({texture_1d}), 2D={texture_2d}, 3D={texture_3d}", False),
    ("Maximum layered 1D texture size, layers", "1D=({texture_1d_layered[0]}), {texture_1d_layered[1]} layers", False),
    ("Maximum layered 2D texture size, layers", "2D={width_and_height}, {texture_2d_layered[2]} layers", False),
    ("Total amount of constant memory", "{total_constant} bytes", False),
    ("Total amount of shared memory per block", "{shared_per_block} bytes", False),
    ("... by opt-in", "{shared_per_block_optin} bytes", True),
    ("Total shared memory per multiprocessor", "{shared_per_multiprocessor} bytes", True),
    ("Total number of registers per block", "{registers_per_block}", True),
    ("Warp size", "{warp_size}", False),
    ("Maximum number of threads per multiprocessor", "{max_threads_per_multiprocessor}", True),
    ("Maximum number of blocks per multiprocessor", "{max_blocks_per_multiprocessor}", False),
    ("Maximum number of threads per block", "{max_threads_per_block}", True),
    ("Maximum size of a block (x,y,z)", "{max_block_dims}", False),
    ("Maximum size of a grid (x,y,z)", "{max_grid}", False),
    ("Maximum memory pitch", "{max_pitch} bytes", False),
    ("Texture alignment", "{texture_alignment} bytes", False),
    ("Concurrent copy and kernel execution", "{copies_overlap} with {async_engines} copy engine(s)", False),
    ("Run time limit on kernels", "{kernel_timeout}", False),
    ("Integrated GPU sharing host memory", "{integrated}", False),
    ("Support for mapped page-locked host memory", "{maps_host_memory}", False),
    ("Surface alignment", "{surface_alignment} bytes", False),
    ("ECC enabled", "{ecc}", False),
    ("TCC driver", "{tcc_driver}", False),
    ("Unified addressing", "{unified_addressing}", False),
    ("Managed memory", "{managed_memory}", False),
    ("Compute preemption", "{compute_preemption}", False),
    ("Cooperative launch", "{cooperative}", False),
    ("PCI domain ID / bus ID / location ID", "{pci[0]} / {pci[1]} / {pci[2]}", False),
    ("Compute mode", "{compute_mode}", False),
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

    def lines(self, important: bool | None = None) -> list[tuple[str, str]]:
        """(label, value) in deviceQuery's order: all, or only the ``important`` lines, or (False) only the others."""
        words = self.to_dict()
        words |= {name: "Yes" if value else "No" for name, value in words.items() if isinstance(value, bool)}
        words |= {name: _rate(words[name]) for name in ("clock_khz", "memory_clock_khz")}
        for name in ("driver_version", "runtime_version", "capability"):
            words[name] = ".".join(map(str, words[name]))
        words["memory_mib"] = self.memory_bytes / 2**20
        words["width_and_height"] = self.texture_2d_layered[:2]
        if self.cores is None:
            words |= {"cores": "", "cores_per_multiprocessor": "?"}
        else:
            words["cores"] = f": {self.cores:,} CUDA cores"
        return [(label, line.format_map(words)) for label, line, kind in LINES if important in (None, kind)]

    @property
    def title(self) -> str:
        """The heading: which device of how many."""
        return f'Device {self.index} of {self.count} ({self.backend}): "{self.name}"'

    def table(self, all: bool = False) -> _display.Table:
        """The most important lines, or ``all`` of them."""
        return _display.facts(
            self.lines(None if all else True), self.title, "" if all else "table(all=True) has all lines."
        )

    def _repr_html_(self) -> str:
        important = _display.facts(self.lines(True), self.title).html()
        others = _display.facts(self.lines(False)).html()
        return f"{important}<details><summary>All other limits and features</summary>{others}</details>"

    def __repr__(self) -> str:
        lines = self.lines()
        width = max(len(label) for label, _ in lines) + 2
        return "\n".join([self.title, *(f"  {label + ':':<{width}}{value}" for label, value in lines)])

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return vars(self) | {"cores": self.cores}


def _rate(khz: int) -> str:
    gigahertz = f" ({khz / 1e6:.2f} GHz)" if khz >= 1e6 else ""
    return f"{khz / 1000:,.0f} MHz{gigahertz}" if khz else "not reported by the driver"


def device_query(device: int | Device | None = None) -> DeviceQuery:
    """All properties of a device that CUDA's sample deviceQuery prints.

    Parameters
    ----------
    device : int or Device, optional
        One of ``devices()``. Default: the current one.

    Returns
    -------
    DeviceQuery
        Prints as deviceQuery's text. The emulator reports the chip that ``emulator.configure(chip=)`` names.

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
        "cores_per_multiprocessor": each and each.float32,
        "compute_mode": COMPUTE_MODES[mode] if mode < len(COMPUTE_MODES) else str(mode),
    }
    for name in ("driver_version", "runtime_version"):  # CUDA encodes 13.0 as 13000
        values[name] = (properties[name] // 1000, properties[name] % 1000 // 10)
    return DeviceQuery(**{name: values[name] for name in DeviceQuery.__dataclass_fields__})
