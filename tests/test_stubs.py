"""Types: what is described for type checkers is what the C modules are, and what a user's program sees.

mypy itself runs in .ci/run, over the package and user_program.py."""

import importlib
import inspect
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest

import cudakern
import user_program
from cases import BACKENDS, native
from cudakern import _native

ROOT = Path(__file__).resolve().parent.parent


def importable(name):
    try:
        return importlib.import_module(f"cudakern.{name}")
    except ImportError:  # not built
        return None


MODULES = [name for name in ("_emulator", "_cuda") if importable(name)]
every_module = pytest.mark.parametrize("name", MODULES)
FUNCTIONS = {key: what for key, what in vars(_native.Native).items() if inspect.isfunction(what) and key[0] != "_"}


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values() if p.name != "self"]


@every_module
def test_every_function_is_described_as_it_is(name):
    """Names, order, number and kind of the parameters, in both directions: nothing is missing on either side."""
    module = importable(name)
    functions = {key: what for key, what in vars(module).items() if inspect.isbuiltin(what) and key[0] != "_"}
    assert set(functions) == set(FUNCTIONS)
    for key, function in functions.items():
        assert parameters(function) == parameters(FUNCTIONS[key]), key
        assert function.__doc__, key
    for key, kind in typing.get_type_hints(_native.Native).items():
        assert isinstance(getattr(module, key), typing.get_origin(kind) or kind), key
    assert module.interface_version == _native.INTERFACE


@every_module
def test_every_attribute_of_a_view_is_described(name):
    described = typing.get_type_hints(_native.View)
    found = {key: what for key, what in vars(importable(name).View).items() if key[0] != "_"}
    assert set(found) == set(described)
    assert all(isinstance(what, types.GetSetDescriptorType) and what.__doc__ for what in found.values())


@pytest.mark.parametrize("name", BACKENDS)
def test_attributes_of_a_view_have_the_types_that_are_described(name):
    view = native(name).empty((2, 3), "float32", 0, 0)
    for key, kind in typing.get_type_hints(_native.View).items():
        value = getattr(view, key)
        assert type(value) is (typing.get_origin(kind) or kind), key
        assert not isinstance(value, tuple) or all(type(n) is int for n in value), key


def test_every_public_name_is_annotated():
    """All parameters and results, of functions, methods and properties."""
    for name in cudakern.__all__:
        public = getattr(cudakern, name)
        parts = [public]
        if inspect.isclass(public):
            parts = [
                part.fget if isinstance(part, property) else part
                for key, part in vars(public).items()
                if key[0] != "_" and isinstance(part, (types.FunctionType, property))
            ]
        for part in filter(inspect.isfunction, parts):
            signature = inspect.signature(part)
            assert signature.return_annotation is not signature.empty, part
            bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name != "self"]
            assert bare == [], part


def test_the_stub_is_what_the_functions_say():
    """cudakern/__init__.pyi has every public name, and is what .ci/stub.py writes."""
    ran = subprocess.run([sys.executable, ROOT / ".ci/stub.py", "--check"], text=True, capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_users_program_runs(backend):
    user_program.main()
