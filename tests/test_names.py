"""How operations are named: by name or by function."""

import json
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import cudakern
from cudakern.operations.completion import completions
from cudakern.operations.registry import public


def test_functions_name_operations():
    assert cudakern.variants(cudakern.sort) is cudakern.variants("sort")
    assert cudakern.source(cudakern.matmul, "tiled") == cudakern.source("matmul", "tiled")
    with cudakern.use_backend("emulator"):
        assert cudakern.ladder(cudakern.sort, n=9, variants=["numpy"]).operation == "sort"
        assert cudakern.profile("matmul", [[1.0]], [[2.0]], repeat=1).operation == "matmul"
        kernels = cudakern.kernel_resources(cudakern.matmul, "tiled")
        assert kernels[0] == cudakern.kernel_resources("matmul", "tiled")[0]
        assert cudakern.occupancy(cudakern.matmul, "tiled") == cudakern.occupancy("matmul", "tiled")


@pytest.mark.parametrize("wrong", [np.matmul, 3, None, cudakern.asarray])
def test_other_things_name_no_operation(wrong):
    calls = [lambda: cudakern.ladder(wrong), lambda: cudakern.source(wrong, "tiled")]
    calls += [lambda: cudakern.kernel_resources(wrong)]
    for call in calls:
        with pytest.raises(TypeError, match=r"such as 'matmul' or cudakern\.matmul, not "):
            call()
    with pytest.raises(ValueError, match="the nearest is 'matmul'"):
        cudakern.profile("matmol", [1], [2])


def test_variants_of_all_operations():
    listed = cudakern.variants()
    assert listed["sort"] is cudakern.variants("sort") is listed[cudakern.sort]
    assert set(listed) >= {"matmul", "sum_of_squares", "hello"}
    assert f"{sum(map(len, listed.values()))} variants" in repr(listed)
    assert repr(listed).count("tree_sequential") == 1
    assert json.loads(json.dumps(listed.to_dict()))["matmul"][0]["name"] == "numpy"
    assert "<th" in listed._repr_html_()
    with pytest.raises(KeyError, match="the nearest is 'matmul'"):
        listed["matmol"]


def test_profile_of_a_result_says_what_to_write():
    with pytest.raises(TypeError) as error:
        cudakern.profile(cudakern.matmul(np.ones((50, 50)), np.ones((50, 50))))
    assert "write profile(cudakern.matmul, a, b), not profile(cudakern.matmul(a, b))" in str(error.value)
    assert "[" not in str(error.value)


def test_only_public_names_are_listed():
    # What functions return is in __all__, but would be in the way in a list.
    classes = {name for name in cudakern.__all__ if name[0].isupper()}
    listed = dir(cudakern)
    assert {*listed} - classes == {*cudakern.__all__, "lab"} - classes
    named = ["CompileError", "CudaError", "DeviceArray", "Event", "OutOfMemoryError", "Stream"]
    assert [name for name in listed if name[0].isupper()] == named
    assert dir(cudakern.emulator) == ["compile_flags", "configure"]
    names = {}
    exec("from cudakern.lab import *", names)
    assert dir(cudakern.lab) == sorted(names.keys() - {"__builtins__"})


def test_help_is_a_page():
    """The functions' own help is not repeated; every public function is named."""
    for module in (cudakern, cudakern.lab):
        text = pydoc.plain(pydoc.render_doc(module))
        assert sum(not line.startswith("    _") for line in text.splitlines()) < 100  # without the list of modules
        for name in dir(module):
            if name[0].islower():
                assert name in module.__doc__, name
    assert "variant" in pydoc.render_doc(cudakern.matmul)
    names = {}
    exec("from cudakern import *", names)
    assert set(cudakern.__all__) <= set(names)


@pytest.mark.parametrize(
    "text, some, others",
    [
        ('ck.sum_of_squares(x, variant="', ["auto", "coalesced", "numpy"], ["tiled"]),
        ("y = ck.matmul(f((3, 4)), x, variant='ti", ["tiled", "tiled_padded"], ["naive", "auto"]),
        ('ck.ladder("', ["matmul", "hello"], ["tiled"]),
        ('ck.ladder(op="mat', ["matmul"], ["sort"]),
        ('ck.bench("', ["matmul", "sort"], ["interp", "hello"]),
        ('ck.ladder(ck.matmul, variants=["naive", "ti', ["tiled"], ["naive", "auto"]),
        ('ck.source("matmul", "', ["tiled"], ["auto", "matmul", "numpy"]),
        ('ck.profile(ck.matmul, x, x, variant="', ["tiled"], ["sort"]),
        ('ck.matmul(x, x, variant="tiled", ti', ["tile="], ["threads=", "tiled"]),
        ("ck.sum_of_squares(x, ", ["threads=", "blocks="], ["tile="]),
        ("ck.profile(ck.matmul, x, x, t", ["tile="], ["threads="]),
        ('ck.occupancy(capability="', [], ["matmul"]),
        ('print("', [], ["matmul"]),
        ('nothing("', [], ["matmul"]),
        ('ck.ladder("nothing", variants=["', [], ["matmul"]),
        ('x = "', [], ["matmul"]),
    ],
)
def test_completions(text, some, others):
    found = completions(text, {"ck": cudakern, "x": 1, "print": print})
    assert set(some) <= set(found)
    assert not set(others) & set(found)
    assert bool(found) == bool(some)


def test_completion_in_ipython():
    """A session that imports cudakern completes names inside quotes."""
    pytest.importorskip("IPython")
    script = """
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("import cudakern as ck")
with provisionalcompleter():
    for text in ('ck.matmul(1, variant="til', 'ck.ladder("matm'):
        print(*(one.text for one in shell.Completer.completions(text, len(text))))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    tiled, matmul = done.stdout.splitlines()
    assert {"tiled", "tiled_padded"} <= set(tiled.split())
    assert matmul == "matmul"


def test_mistakes_in_names_are_explained():
    a = np.ones((2, 2), np.float32)
    with pytest.raises(TypeError, match="matmul: out must be an array, not str: write variant='tiled'"):
        cudakern.matmul(a, a, "tiled")
    with pytest.raises(TypeError, match="saxpy: out must be an array, not str: write variant='naive'"):
        cudakern.saxpy(2, a, a, "naive")
    with pytest.raises(TypeError, match=r"such as 'matmul' or cudakern\.matmul, not the module cudakern"):
        cudakern.ladder(cudakern)


def test_examples_are_on_the_first_screen():
    for op in public():
        lines = pydoc.plain(pydoc.render_doc(getattr(cudakern, op))).splitlines()
        assert ">>>" in "\n".join(lines[:24]), op
