"""What users write, as a type checker sees it. mypy (strict, pyproject.toml) must pass: each `assert_type` holds, and
each line of `wrong` is refused (else its `type: ignore` is one too many). test_stubs.py runs it, too."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import cudakern as ck


def host_arrays() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    # NumPy's own types decide here, so a result is as open as numpy.matmul's.
    assert_type(ck.sum_of_squares(x), Any)
    assert_type(ck.sum_of_squares([1, 2, 3], "tree_sequential", blocks=2), Any)
    assert_type(ck.matmul(x, x.T, variant="tiled", tile=8), Any)
    ck.matmul(x, [[1.0], [2.0], [3.0]])
    ck.matmul(x, x.T, out=np.empty((2, 2), np.float32))
    ck.matmul(x, x.T, np.empty((2, 2)))
    ck.matmul(x, x.T, out=(np.empty((2, 2), np.float32),))
    assert_type(ck.random_matrix(3, seed=1), npt.NDArray[Any])
    assert_type(ck.compare(x, x).max, float)
    assert_type(ck.empty_pinned((2, 3), "float32"), npt.NDArray[Any])


def arrays_on_the_device() -> ck.DeviceArray:
    d = ck.asarray([[1.0, 2.0], [3.0, 4.0]], dtype="float32")
    assert_type(d, ck.DeviceArray)
    assert_type(ck.empty(3), ck.DeviceArray)
    assert_type(ck.zeros((2, 3), np.int8), ck.DeviceArray)
    assert_type(ck.matmul(d, d.T), ck.DeviceArray)
    assert_type(ck.matmul(d, d, out=ck.empty((2, 2), "float32"), variant="naive"), ck.DeviceArray)
    assert_type(ck.sum_of_squares(d), ck.DeviceArray)
    assert_type(d @ d, ck.DeviceArray)
    assert_type(d[0], ck.DeviceArray)
    assert_type(d[..., ::-1].T.copy().reshape(4).ravel(), ck.DeviceArray)
    assert_type(d.astype("float64").copy(), ck.DeviceArray)
    assert_type(d.get(), npt.NDArray[Any])
    assert_type((d.shape, d.strides, d.ndim, d.size, d.nbytes), tuple[tuple[int, ...], tuple[int, ...], int, int, int])
    assert_type(d.dtype, np.dtype[Any])
    assert_type((float(d[0, 0]), int(d[0, 1]), len(d)), tuple[float, int, int])
    for row in d:
        assert_type(row, ck.DeviceArray)
    d[0] = [5.0, 6.0]
    d[1, 0] = d[0, 0]
    d.fill(1)
    d.set(np.zeros((2, 2)))
    return d


def streams_and_devices(d: ck.DeviceArray) -> None:
    stream = ck.Stream(priority=-1)
    begin = stream.record()
    assert_type(begin, ck.Event)
    ck.matmul(d, d, stream=stream)
    d.copy(stream=stream.handle)
    end = ck.Event()
    end.record(stream)
    end.synchronize()
    assert_type(begin.elapsed_time(end), float)
    assert_type(stream.done, bool)
    with ck.device(0) as here:
        assert_type(here, ck.Device)
        assert_type(here.memory.free, int)
    assert_type(ck.devices(), list[ck.Device])
    ck.synchronize(d.device)


def exchange(d: ck.DeviceArray) -> None:
    with ck.use_backend("emulator") as answers:
        assert_type(answers, ck.Backend)
        assert_type(ck.from_dlpack(np.ones(3)), ck.DeviceArray)
    assert_type(d.__dlpack_device__(), tuple[int, int])


def first_steps() -> None:
    x = ck.asarray(np.arange(6.0))
    assert_type(ck.saxpy(2, x, x, variant="grid_stride", threads=64), ck.DeviceArray)
    assert_type(ck.stencil_1d(x, radius=1, out=x), ck.DeviceArray)
    assert_type(ck.grayscale(ck.zeros((4, 5, 3), "uint8")), ck.DeviceArray)


def the_ladder() -> None:
    variants = ck.variants("matmul")
    assert_type(variants, ck.Variants)
    assert_type([variant.name for variant in variants], list[str])
    steps = ck.ladder("sum_of_squares", n=100, variants=["coalesced"], repeat=1, progress=False)
    assert_type(steps, ck.Ladder)
    for step in steps:
        assert_type(step, ck.Step)
        assert_type(step.speedup, float | None)
    p = ck.profile(ck.matmul, np.ones((8, 8)), np.ones((8, 8)), variant="tiled", repeat=1)
    assert_type(p, ck.Profile)
    assert_type((p.kernel_ns, p.gflop_per_s, p.share), tuple[float, float, float | None])
    assert_type(ck.source("matmul", "tiled").path.name, str)


def errors() -> None:
    try:
        ck.empty(2**45, "int8")
    except ck.OutOfMemoryError as error:
        assert_type((error.bytes, error.bytes_free, error.code, error.name), tuple[int, int, int, str])
    except ck.CudaError as error:
        assert_type(error.code, int)


def wrong(d: ck.DeviceArray) -> None:
    """Never called: a checker refuses each line."""
    ck.matmul(a=d, b=d)  # type: ignore[call-overload]  # positional, as NumPy's
    ck.matmul(d, d, variant=3)  # type: ignore[call-overload]
    ck.matmul(d, d, tile="16")  # type: ignore[call-overload]
    ck.use_backend(None)  # type: ignore[arg-type]
    ck.ladder("matmul", n="1000")  # type: ignore[arg-type]
    ck.empty(3).synchronize()  # type: ignore[attr-defined]
    ck.saxpy(a=2, x=d, y=d)  # type: ignore[call-overload]
    ck.stencil_1d(d, radius="3")  # type: ignore[call-overload]
    ck.matmull(d, d)  # type: ignore[attr-defined]
    d.shape = (4,)  # type: ignore[misc]
    print(d * 2)  # type: ignore[operator]
    print(-d)  # type: ignore[operator]
    d.get().device_name()  # type: ignore[attr-defined]


def main() -> None:
    host_arrays()
    d = arrays_on_the_device()
    streams_and_devices(d)
    exchange(d)
    first_steps()
    the_ladder()
    errors()


if __name__ == "__main__":
    main()
