"""What a device says of itself, as CUDA's sample deviceQuery prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _display
from ._devices import Device, resolve

#: float32 lanes of a multiprocessor ("CUDA cores"), by compute capability: the architectures' white papers and the
#: table of arithmetic throughput in the programming guide.
CORES = {
    35: 192,
    37: 192,
    50: 128,
    52: 128,
    53: 128,
    60: 64,
    61: 128,
    62: 128,
    70: 64,
    72: 64,
    75: 64,
    80: 64,
    86: 128,
    87: 128,
    89: 128,
    90: 128,
    100: 128,
    101: 128,
    103: 128,
    110: 128,
    120: 128,
    121: 128,
}
COMPUTE_MODES = ("default", "exclusive", "prohibited", "exclusive process")


@dataclass(frozen=True, repr=False)
class DeviceQuery:
    """A device's description: attributes, and the text of deviceQuery in its order (``str()``)."""

    backend: str  #: "cuda" or "emulator"
    index: int
    count: int  #: devices of the backend
    name: str
    driver_version: tuple[int, int]
    runtime_version: tuple[int, int]
    capability: tuple[int, int]
    memory_bytes: int
    multiprocessors: int
    cores_per_multiprocessor: int | None  #: float32 lanes; None: a capability that is not in our table
    clock_khz: int  #: the highest; 0 where the driver does not tell
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
    async_engines: int  #: that copy
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
        """(what, value) in deviceQuery's order."""
        each = "?" if self.cores_per_multiprocessor is None else str(self.cores_per_multiprocessor)
        whole = "" if self.cores is None else f": {self.cores:,} CUDA cores"
        return [
            (
                "CUDA driver version / runtime version",
                f"{_version(self.driver_version)} / {_version(self.runtime_version)}",
            ),
            ("CUDA capability, major.minor", _version(self.capability)),
            ("Total amount of global memory", f"{self.memory_bytes / 2**20:,.0f} MiB ({self.memory_bytes} bytes)"),
            ("Multiprocessors, CUDA cores each", f"({self.multiprocessors}), ({each}){whole}"),
            ("GPU's highest clock rate", _rate(self.clock_khz)),
            ("Memory clock rate", _rate(self.memory_clock_khz)),
            ("Memory bus width", f"{self.memory_bus_bits}-bit"),
            ("L2 cache size", f"{self.l2_bytes} bytes"),
            (
                "Maximum texture dimension size (x,y,z)",
                f"1D=({self.texture_1d}), 2D={self.texture_2d}, 3D={self.texture_3d}",
            ),
            (
                "Maximum layered 1D texture size, layers",
                f"1D=({self.texture_1d_layered[0]}), {self.texture_1d_layered[1]} layers",
            ),
            (
                "Maximum layered 2D texture size, layers",
                f"2D={self.texture_2d_layered[:2]}, {self.texture_2d_layered[2]} layers",
            ),
            ("Total amount of constant memory", f"{self.total_constant} bytes"),
            ("Total amount of shared memory per block", f"{self.shared_per_block} bytes"),
            ("... by opt-in", f"{self.shared_per_block_optin} bytes"),
            ("Total shared memory per multiprocessor", f"{self.shared_per_multiprocessor} bytes"),
            ("Total number of registers per block", f"{self.registers_per_block}"),
            ("Warp size", f"{self.warp_size}"),
            ("Maximum number of threads per multiprocessor", f"{self.max_threads_per_multiprocessor}"),
            ("Maximum number of blocks per multiprocessor", f"{self.max_blocks_per_multiprocessor}"),
            ("Maximum number of threads per block", f"{self.max_threads_per_block}"),
            ("Maximum size of a block (x,y,z)", f"{self.max_block_dims}"),
            ("Maximum size of a grid (x,y,z)", f"{self.max_grid}"),
            ("Maximum memory pitch", f"{self.max_pitch} bytes"),
            ("Texture alignment", f"{self.texture_alignment} bytes"),
            (
                "Concurrent copy and kernel execution",
                f"{_yes(self.copies_overlap)} with {self.async_engines} copy engine(s)",
            ),
            ("Run time limit on kernels", _yes(self.kernel_timeout)),
            ("Integrated GPU sharing host memory", _yes(self.integrated)),
            ("Support for mapped page-locked host memory", _yes(self.maps_host_memory)),
            ("Surface alignment", f"{self.surface_alignment} bytes"),
            ("ECC enabled", _yes(self.ecc)),
            ("TCC driver", _yes(self.tcc_driver)),
            ("Unified addressing", _yes(self.unified_addressing)),
            ("Managed memory", _yes(self.managed_memory)),
            ("Compute preemption", _yes(self.compute_preemption)),
            ("Cooperative launch", _yes(self.cooperative)),
            ("PCI domain ID / bus ID / location ID", " / ".join(map(str, self.pci))),
            ("Compute mode", self.compute_mode),
        ]

    @property
    def title(self) -> str:
        """The line above: which device of how many."""
        return f'Device {self.index} of {self.count} ({self.backend}): "{self.name}"'

    def __str__(self) -> str:
        lines = self.lines()
        width = max(len(what) for what, _ in lines)
        return "\n".join([self.title, *(f"  {what + ':':<{width + 2}}{value}" for what, value in lines)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _display.Table(self.title, ["", " "], [list(line) for line in self.lines()]).html()

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"cores": self.cores}


def _version(numbers: tuple[int, int]) -> str:
    return ".".join(map(str, numbers))


def _rate(khz: int) -> str:
    if not khz:
        return "not told by the driver"
    return f"{khz / 1000:,.0f} MHz" + (f" ({khz / 1e6:.2f} GHz)" if khz >= 1e6 else "")


def _yes(flag: bool) -> str:
    return "Yes" if flag else "No"


def device_query(device: int | Device | None = None) -> DeviceQuery:
    """All that CUDA's sample deviceQuery prints of a device: what it is, and its limits.

    Parameters
    ----------
    device : int or Device, optional
        One of ``devices()``. Not given: the current one.

    Returns
    -------
    DeviceQuery
        Attributes, ``to_dict()``, and deviceQuery's text in its order: ``print(device_query())``.

    Raises
    ------
    TypeError
        ``device`` is neither.
    ValueError
        There is no such device, or it is another backend's.

    Notes
    -----
    P's slide, and what the sample prints below the slide's edge. Clock rates and the like, which CUDA 13 took out of
    its property structure, come from attributes. The emulator answers as the chip that ``emulator.configure(chip=)``
    names; its memory is this computer's.

    Examples
    --------
    >>> import cudakern
    >>> told = cudakern.device_query()
    >>> told.warp_size, told.max_threads_per_block
    (32, 1024)
    """
    native, index = resolve(device)
    found = native.device_properties(index)
    major, minor = found["capability"]
    values = {name: found[name] for name in DeviceQuery.__dataclass_fields__ if name in found}
    mode = found["compute_mode"]
    versions = {name: (found[name] // 1000, found[name] % 1000 // 10) for name in ("driver_version", "runtime_version")}
    return DeviceQuery(
        **values
        | versions
        | {
            "backend": native.backend_name(),
            "index": index,
            "count": native.device_count(),
            "cores_per_multiprocessor": CORES.get(10 * major + minor),
            "compute_mode": COMPUTE_MODES[mode] if mode < len(COMPUTE_MODES) else str(mode),
        }
    )
