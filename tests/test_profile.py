"""Profiles: the figures of a call, how often it is repeated, and what a profile leaves behind."""

import itertools

import numpy as np
import pytest

import cudakern
from cases import emulated_note, json_of, native
from cudakern.measure import profile as profile_module


@pytest.mark.proves("profile")
def test_profile_of_a_kernel_that_reads_the_clock(backend):
    p = cudakern.profile(
        cudakern.sum_of_squares, np.ones(5000, "int32"), variant="multi_block", blocks=7, threads=64, repeat=3, warmup=1
    )
    assert (p.variant.name, p.operation, p.backend, p.repeat) == ("multi_block", "sum_of_squares", backend, 3)
    assert p.parameters == {"threads": 64, "blocks": 7}
    assert p.clock == ("emulated" if backend == "emulator" else "gpu")
    assert p.emulated == (backend == "emulator")
    assert p.kernel_ns > 0
    assert p.to_device_ns >= 0
    assert p.to_host_ns >= 0
    assert p.whole_ns >= p.kernel_ns
    assert p.flops == 10000
    assert p.bytes >= 20000
    assert p.gb_per_s == pytest.approx(p.bytes / p.kernel_ns)
    assert p.gflop_per_s == pytest.approx(p.flops / p.kernel_ns)
    assert (p.grid[0], p.block[0]) == (7, 64)
    assert len(p.cycles) == 7
    assert min(p.cycles) >= 0
    assert p.blocks_ns >= 0
    assert emulated_note(repr(p)) == p.emulated
    assert emulated_note(p._repr_html_()) == p.emulated
    assert "multi_block" in repr(p)
    assert json_of(p.to_dict())["clock"] == p.clock


@pytest.mark.parametrize("on_device", [False, True])
def test_measured_kernels_have_a_head_start(backend, on_device):
    """An empty kernel goes before those that are timed, and none before a call that nobody measures."""
    x = cudakern.asarray(np.ones(500, "float32")) if on_device else np.ones(500, "float32")

    def calls(what):
        """The guarded calls that it makes, in order, by making each fail."""
        for n in range(1, 50):  # (to the launch; after it profile asks much of the device)
            what()  # what a failed call left behind is cleared
            cudakern.synchronize()
            native(backend).inject_fault(n, 719)
            try:
                what()
            except cudakern.CudaError as error:
                yield str(error).partition("The call was ")[2]
            finally:
                native(backend).inject_fault(0, 719)

    plain = list(calls(lambda: cudakern.vector_add(x, x, variant="naive")))
    measured = list(calls(lambda: cudakern.profile(cudakern.vector_add, x, x, variant="naive", repeat=1, warmup=0)))
    assert not [call for call in plain if "head_start" in call.partition(".")[0]]
    (start,) = (i for i, call in enumerate(measured) if call.startswith("head_start<<<(1,1,1),(1,1,1),0>>>"))
    assert measured[start + 1].startswith("cudaEventRecord")
    assert measured[start + 2].startswith("naive<<<")
    assert sum(call.startswith("naive<<<") for call in plain) == 1


def test_profile_of_a_kernel_that_does_not(backend):
    a = np.ones((40, 40), "float32")
    p = cudakern.profile(cudakern.matmul, a, a, variant="naive", repeat=1)
    assert p.cycles == ()
    assert p.blocks_ns is None
    assert "cycles" not in repr(p)
    assert p.flops == 2 * 40**3


def test_an_emulated_time_is_never_a_share_of_a_limit():
    a = np.ones((40, 40), "float32")
    with cudakern.use_backend("emulator"):
        p = cudakern.profile(cudakern.matmul, a, a, variant="tiled", repeat=1)
    assert p.share is None
    assert p.limit is None
    assert "share of the limit" not in repr(p)
    assert "%" not in repr(p)


def test_a_gpu_reaches_a_share_of_its_limit(backend):
    a = np.ones((500, 500), "float32")
    p = cudakern.profile(cudakern.matmul, a, a, variant="tiled", repeat=3)
    assert (p.share is None) == p.emulated
    assert p.emulated or 0 < p.share <= 1.05
    assert ("share of the limit" in repr(p)) == (not p.emulated)


@pytest.mark.proves("profile")
def test_profile_of_numpys_variant(backend):
    p = cudakern.profile(cudakern.matmul, np.ones((30, 30)), np.ones((30, 30)), variant="numpy", repeat=2)
    assert (p.clock, p.backend, p.share, p.cycles) == ("host", "host", None, ())
    assert p.to_device_ns == p.to_host_ns == 0
    assert p.flops == 2 * 30**3
    assert not emulated_note(repr(p))


def test_profile_gives_the_errors_of_the_call(backend):
    a = np.ones((3, 3), "float32")
    with pytest.raises(TypeError, match="cudakern"):
        cudakern.profile(np.matmul, a, a)
    with pytest.raises(ValueError, match="tild"):
        cudakern.profile(cudakern.matmul, a, a, variant="tild")
    for wrong in ({"repeat": 0}, {"warmup": -1}):
        with pytest.raises(ValueError, match="repeat must be 1 or more, not 0|warmup must be 0 or more, not -1"):
            cudakern.profile(cudakern.matmul, a, a, **wrong)


def test_a_median_is_settled_when_its_confidence_interval_is_narrow(monkeypatch):
    """The interval has the true median in 95 of 100 draws, whatever the distribution; too few samples give none."""
    monkeypatch.setattr(profile_module, "PRECISION", 0.01)
    draw = np.random.default_rng(17)
    for n in (20, 100):
        hits = 0
        for _ in range(2000):
            ordered = np.sort(draw.lognormal(0, 1, n))
            low, high = (round((n - 1) / 2 + by * 0.98 * n**0.5) for by in (-1, 1))
            hits += ordered[low] <= 1 <= ordered[high]
        assert 0.92 < hits / 2000 < 0.98, n
    assert not profile_module.settled([5.0])
    assert profile_module.settled([5.0] * 20)
    narrow = [1000.0 + i for i in range(20)]
    assert profile_module.settled(narrow)  # ranks 5 to 14: 9 of 1010
    assert not profile_module.settled([x * 3 for x in narrow[:10]] + narrow[10:])
    assert not profile_module.settled(list(draw.normal(1000, 300, 20)))
    assert profile_module.settled(list(draw.normal(1000, 300, 20_000)))


def test_repetitions_of_a_profile(monkeypatch):
    """On a GPU until the median is known or the time is up; elsewhere a fixed number of times."""
    x = np.ones(100, "float32")

    def runs(clock, times, budget_s=30, **counts):
        monkeypatch.setattr(profile_module, "_clock", lambda sample: clock)
        measured = []

        def kernel(self, run):
            measured.append(next(times))
            call = {"variant": run.variant, "values": run.values, "shapes": run.shapes, "dtype": run.dtype}
            report = run.execute(1) | call | {"backend": cudakern.backend(), "kernel_ns": measured[-1]}
            self.reports.append(report)

        monkeypatch.setattr(profile_module.Times, "kernel", kernel)
        with cudakern.use_backend("emulator"):
            counts = {"repeat": None, "warmup": 0} | counts
            call = cudakern.vector_add, (x, x), {"variant": "naive"}
            p, _ = profile_module.measure(*call, budget_s=budget_s, **counts)
        return p.repeat, len(measured), p.kernel_ns

    steady, wild = (lambda: itertools.cycle([1000.0, 1001.0])), (lambda: itertools.cycle([900.0, 1100.0]))
    assert runs("emulated", wild()) == (20, 20, 1000)
    assert runs("gpu", steady())[:2] == (20, 20)
    assert runs("gpu", wild())[0] == 1000
    then_steady = itertools.chain([900.0, 1100.0] * 30, itertools.repeat(1000.0))
    repeat, measured, ns = runs("gpu", then_steady)
    assert 60 < repeat < 300
    assert measured == repeat
    assert ns == 1000
    assert runs("gpu", wild(), repeat=7)[0] == 7
    assert runs("gpu", wild(), budget_s=0.05)[0] < 1000
    repeat, measured, _ = runs("gpu", steady(), budget_s=0.5, warmup=None)
    assert repeat == 20
    assert measured > 21  # a fifth of the time to warm up


def test_a_profile_names_the_kernels_that_fastest_chose(backend):
    """It has none of its own: what the table shows is the only sign of which variant ran."""
    a = cudakern.asarray(np.ones((20, 20), "f4"))
    profile = cudakern.profile(cudakern.matmul, a, a, repeat=1)
    assert (profile.variant.name, profile.kernels) == ("fastest", ("tiled",))
    assert ("kernels", "tiled") in profile.facts()
    assert "kernels" not in dict(cudakern.profile(cudakern.matmul, a, a, variant="tiled", repeat=1).facts())
    assert cudakern.profile(cudakern.matmul, np.ones((2, 2)), np.ones((2, 2)), variant="numpy", repeat=1).kernels == ()


@pytest.mark.parametrize("variant, launches", [("blocks", 3), ("lookback", 1)])
def test_a_profile_counts_launches(backend, variant, launches):
    """Three of "blocks" (sums, their scan, the tiles' scans), one of "lookback", whatever the timing adds."""
    profile = cudakern.profile(cudakern.inclusive_scan, np.ones(50_000, "f4"), variant=variant, repeat=1)
    assert profile.launches == launches


def test_an_ordinary_call_after_profile_is_not_measured(backend):
    cudakern.profile(cudakern.sum_of_squares, np.ones(10, "float32"), variant="coalesced", repeat=1)
    from cudakern.calls.observer import observer

    assert observer.get() is None
