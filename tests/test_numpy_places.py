"""Operands are all in one place, host or device; streams and profiles of calls on NumPy arrays and on device arrays."""

import operator
import re

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import cudakern
import subprocesses
from cases import (
    BACKENDS,
    native,
    numbers,
)
from cudakern.arrays.array import DeviceArray
from cudakern.calls import call as call_module
from numpys import TWO, attempt

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as NumPy warns, so does its variant


# --- one place -----------------------------------------------------------------------------------------------------
def test_host_and_device_do_not_mix(backend):
    d = cudakern.asarray(TWO)
    for call, words in (
        (lambda: cudakern.matmul(d, TWO), r"b is in host memory \(ndarray\).*asarray\(b\).*a\.get\(\)"),
        (lambda: cudakern.matmul(TWO, d), r"a is in host memory.*asarray\(a\).*b\.get\(\)"),
        (lambda: cudakern.matmul([[1, 2]], d, variant="tiled"), r"a is in host memory \(list\)"),
        (lambda: TWO @ d, r"a is in host memory"),
        (lambda: d @ TWO, r"b is in host memory"),
        (
            lambda: cudakern.matmul(d, d, out=TWO),
            r"out is in host memory.*create out .*cudakern\.empty.*get\(out=out\)",
        ),
        (lambda: cudakern.matmul(TWO, TWO, out=d), r"a is in host memory.*create out .*numpy\.empty, or.*asarray\(a\)"),
    ):
        with pytest.raises(TypeError, match=words):
            call()
    assert cudakern.matmul(d, cudakern.asarray(TWO)).get().tolist() == (TWO @ TWO).tolist()


def test_wrong_calls_with_device_arrays_fail_as_numpys_do(backend):
    d, v = cudakern.asarray(TWO), cudakern.asarray(TWO[0])
    for call in (
        lambda x, y, f, a: f(3, x),
        lambda x, y, f, a: f(x, 2.5),
        lambda x, y, f, a: f(x, np.float32(2)),
        lambda x, y, f, a: f(x, x[0, 0]),
        lambda x, y, f, a: f(x, x[:1]),
        lambda x, y, f, a: f(y, y[:1]),
        lambda x, y, f, a: f(x, x, out=[[0, 0], [0, 0]]),
        lambda x, y, f, a: f(x, x, out="out"),
        lambda x, y, f, a: f(x, x, out=()),
        lambda x, y, f, a: f(x, x, out=(x, x)),
        lambda x, y, f, a: f(x, x, out=a(np.zeros((2, 2), int))),
        lambda x, y, f, a: f(x, x, out=a(np.zeros((2, 3)))),
        lambda x, y, f, a: f(x, y, out=a(np.zeros((2, 2)))[:1]),
        lambda x, y, f, a: f(x, x, out=a(np.zeros((3, 2, 2)))),
        lambda x, y, f, a: f(y, y, out=a(np.zeros(3))),
        lambda x, y, f, a: f(x, x, out=(None,)),
        lambda x, y, f, a: f(x),
    ):
        expected, error = attempt(lambda call=call: call(TWO, TWO[0], np.matmul, np.asarray))
        for keywords in ({}, {"variant": "tiled"}):
            result, mine = attempt(
                lambda call=call, keywords=keywords: call(
                    d, v, lambda *a, **k: cudakern.matmul(*a, **k, **keywords), cudakern.asarray
                )
            )
            assert mine is error
            assert error is not None or np.array_equal(result.get(), expected)


def test_shapes_of_out_are_checked_before_anything_runs(backend):
    for shape, out in (((2, 2, 2), (2, 2)), ((3, 1, 2, 2), (1, 2, 2)), ((2, 2, 2), (1, 2, 2)), ((2, 2), (2,))):
        x, target = np.ones(shape), np.zeros(out)
        for a, b, into in ((x, TWO, target), tuple(map(cudakern.asarray, (x, TWO, target)))):
            with pytest.raises(ValueError, match=re.escape(f"out is {out}, and the result is {shape}")):
                cudakern.matmul(a, b, out=into, variant="naive")


def test_an_out_that_is_an_operand(backend):
    values = np.arange(1600.0).reshape(40, 40) % 7  # several tiles: one is written before another is read
    for variant in ("auto", "tiled", "tiled_padded"):
        for which in ("a", "b", "both", "rows", "transposed"):
            for put in (np.array, cudakern.asarray):
                a, b, big = put(values), put(values + 1), put(np.vstack([values, values[:1]]))
                if which == "both":
                    result, wanted = cudakern.matmul(a, a, out=a, variant=variant), values @ values
                elif which == "rows":
                    result, wanted = cudakern.matmul(big[:40], b, out=big[1:], variant=variant), values @ (values + 1)
                elif which == "transposed":
                    result, wanted = cudakern.matmul(a, b, out=b.T, variant=variant), values @ (values + 1)
                else:
                    out = a if which == "a" else b
                    result, wanted = cudakern.matmul(a, b, out=out, variant=variant), values @ (values + 1)
                assert np.array_equal(result if put is np.array else result.get(), wanted), (variant, which)


def test_an_out_on_the_device_whose_elements_are_one(backend):
    module, d = native(backend), cudakern.asarray(TWO)
    for shape, strides in (((2, 2), (0, 8)), ((2, 2), (8, 8)), ((3, 2, 2), (0, 16, 8))):
        memory = module.empty((12,), "float64", 0, 0)
        out = DeviceArray(module.view(memory, 0, shape, strides, "float64"), module)
        with pytest.raises(ValueError, match="share memory"):
            cudakern.matmul(d, d, out=out)
    frozen = module.adopt(memory, memory.pointer, (2, 2), (16, 8), "float64", 0, True)
    for variant in ("auto", "naive"):
        with pytest.raises(ValueError, match="out is read-only"):
            cudakern.matmul(d, d, out=DeviceArray(frozen, module), variant=variant)
    assert np.array_equal((DeviceArray(frozen, module) @ d).shape, (2, 2))


def test_an_out_of_the_host_whose_elements_are_one(backend):
    """NumPy takes it; which of the results is kept is not said."""
    expected = TWO @ TWO
    for strides, wanted in (((0, 8), expected), ((16, 0), expected.T)):
        out = as_strided(np.zeros(4), (2, 2), strides)
        assert cudakern.matmul(TWO, TWO, out=out, variant="naive") is out
        kept = out[0] if strides[0] == 0 else out[:, 0]
        assert any(np.array_equal(kept, row) for row in wanted)


def test_arrays_of_two_devices():
    said = subprocesses.run(
        """
        import cudakern
        with cudakern.device(0):
            a = cudakern.zeros((2, 2))
        with cudakern.device(1):
            b = cudakern.zeros((2, 2))
            cudakern.matmul(b, b, out=b.copy()).get()
        for call in (lambda: a @ b, lambda: cudakern.matmul(a, a, out=b)):
            try:
                call()
            except ValueError as error:
                print(error)
    """,
        CUDAKERN_BACKEND="emulator",
        CUDAKERN_EMULATOR_DEVICES="2",
    )
    first, second = said.splitlines()
    assert "a is on the device (emulator:0) and b is on the device (emulator:1)" in first
    assert "cudakern.asarray(b)" in first
    assert "out is on the device (emulator:1)" in second
    assert "create out on that device with cudakern.empty inside `with cudakern.device(0)`" in second


if len(BACKENDS) > 1:

    def test_arrays_of_two_backends():
        with cudakern.use_backend("cuda"):
            a = cudakern.zeros((2, 2))
        with cudakern.use_backend("emulator"):
            b = cudakern.zeros((2, 2))
            with pytest.raises(ValueError, match=r"cuda:0.*emulator:0.*b\.get\(\)"):
                cudakern.matmul(a, b)
            with pytest.raises(
                ValueError, match=r"create out on that device .* cudakern\.empty .*use_backend\('cuda'\)"
            ):
                cudakern.matmul(a, a, out=b)
            assert (a @ a).backend == "cuda"  # an array's own backend answers, whichever was asked for


def test_a_row_of_numpys_for_device_arrays(backend):
    d = cudakern.asarray(TWO)
    with pytest.raises(TypeError, match=r"computes on the host.*a\.get\(\)"):
        cudakern.matmul(d, d, variant="numpy")


# --- streams and profiles ------------------------------------------------------------------------------------------
def test_streams(backend):
    d, stream = cudakern.asarray(TWO), cudakern.Stream()
    for where in (None, 0, 1, 2, stream, stream.handle):
        for variant in ("auto", "tiled"):
            assert np.array_equal(cudakern.matmul(d, d, variant=variant, stream=where).get(), TWO @ TWO)
            assert np.array_equal(cudakern.matmul(TWO, TWO, variant=variant, stream=where), TWO @ TWO)
        assert float(cudakern.sum_of_squares(d, stream=where)) == 14
        assert cudakern.sum_of_squares(TWO, "coalesced", stream=where) == 14
        mixed = cudakern.matmul(d, cudakern.asarray(TWO.astype("i4")), out=cudakern.empty((3, 2, 2)), stream=where)
        assert np.array_equal(mixed.get(), np.stack([TWO @ TWO] * 3))
    for x in (d, TWO):
        for wrong, error in (("one", TypeError), (1.5, TypeError), (-1, ValueError)):
            with pytest.raises(error, match="stream"):
                cudakern.matmul(x, x, stream=wrong)
            with pytest.raises(error, match="stream"):
                cudakern.sum_of_squares(x, stream=wrong)


@pytest.mark.parametrize("variant", ["auto", "tiled"])
def test_profiles_of_device_arrays(backend, variant):
    d = cudakern.asarray(numbers((40, 30), "float32"))
    p = cudakern.profile(cudakern.matmul, d, d.T, variant=variant, repeat=2)
    chosen = "fastest" if variant == "auto" else variant
    assert (p.variant.name, p.backend, p.shapes, p.dtype) == (chosen, backend, ((40, 30), (30, 40)), "float32")
    assert p.kernel_ns > 0
    assert p.to_device_ns == p.to_host_ns == p.finish_ns == 0
    assert p.flops == 2 * 40 * 30 * 40
    p = cudakern.profile(cudakern.sum_of_squares, d[:, ::2], variant="auto" if variant == "auto" else "coalesced")
    assert p.backend == backend
    assert p.flops == 2 * 40 * 15


def test_profiles_count_stacks_and_vectors(backend):
    """The same work by NumPy and by a kernel."""
    a, b = np.ones((4, 1, 3, 5), "f4"), np.ones((2, 5, 6), "f4")
    for x, y, flops in ((a, b, 2 * 8 * 3 * 5 * 6), (a[0, 0, 0], b, 2 * 2 * 5 * 6), (a[0, 0, 0], b[0, :, 0], 2 * 5)):
        for variant in ("numpy", "tiled"):
            assert cudakern.profile(cudakern.matmul, x, y, variant=variant, repeat=1).flops == flops
    deep = np.ones((1,) * 20 + (3, 5), "f4")
    assert cudakern.profile(cudakern.matmul, deep, deep[..., :1, :].swapaxes(-1, -2), repeat=1).flops == 30


def test_two_plain_matrices_take_no_detour(backend, monkeypatch):
    d, out = cudakern.asarray(TWO), cudakern.empty((2, 2))
    for a, b in ((d, d), (d.T, d[::-1])):  # a kind of call that is new is looked at more closely
        cudakern.matmul(a, b, out=out)
    monkeypatch.setattr(call_module, "on_device", None)
    assert np.array_equal((d @ d).get(), TWO @ TWO)
    assert cudakern.matmul(d.T, d[::-1], out=out) is out
    assert np.array_equal(out.get(), TWO.T @ TWO[::-1])
    for unlike in (d.astype("float32"), d[:1]):
        with pytest.raises(TypeError, match="NoneType"):
            cudakern.matmul(d, unlike)


def test_products_in_place(backend):
    """x @= y is matmul(x, y, out=x): NumPy's values, its errors, and the same array."""
    for a, b in ((TWO, TWO + 1), (np.stack([TWO, TWO.T]), TWO), (TWO, TWO.T), (TWO, np.ones((2, 3))), (TWO[0], TWO)):
        expected, error = attempt(lambda a=a, b=b: operator.imatmul(a.copy(), b))
        x = cudakern.asarray(a)
        result, mine = attempt(lambda x=x, b=b: operator.imatmul(x, cudakern.asarray(b)))
        assert mine is error
        if error is None:
            assert result is x
            assert np.array_equal(x.get(), expected)
        else:
            assert np.array_equal(x.get(), a)
    for other in (TWO, 2):
        with pytest.raises((TypeError, ValueError)):
            operator.imatmul(cudakern.asarray(TWO), other)
