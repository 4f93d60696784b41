"""What an installation holds: headers and core for a user's own kernels, sources, types; and what docstrings claim."""

import ast
import copy
import doctest
import importlib
import importlib.util
import inspect
import os
import pickle
import pkgutil
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import cuda_api
import cudakern
import cudakern.lab
from cudakern._installed import HEADERS
from cudakern.measure.verify import verify

PACKAGE = Path(cudakern.__file__).resolve().parent
MODULES = [
    "cudakern",
    *(
        module.name
        for module in pkgutil.walk_packages(cudakern.__path__, "cudakern.")
        if module.module_finder.find_spec(module.name).origin.endswith(".py") and module.name != "cudakern.__main__"
    ),
]
FUNCTIONS = [
    function
    for place in (cudakern, cudakern.emulator, cudakern.lab)
    for function in map(place.__dict__.get, dir(place))
    if inspect.isfunction(function)
]
#: Between them these include every header; g++ compiles them in the default run.
KERNELS = ("dialect_half", "hopper", "set")
COMPILED = [
    pytest.param(path, compiler, marks=() if compiler == "g++" and path.stem in KERNELS else pytest.mark.full)
    for path in sorted(cuda_api.SOURCES.glob("*.cu"))
    for compiler in ("g++", "clang++")
    if shutil.which(compiler)
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_are_true(backend, name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def sections(function):
    """{title: text} of a docstring in NumPy's style."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(function) or "", flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def parameters(function):
    return [p.name for p in inspect.signature(function).parameters.values() if p.name != "self"]


def test_public_names_exist_and_are_documented():
    for name in cudakern.__all__:
        assert getattr(cudakern, name).__doc__, name


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_docstrings_have_their_sections(function):
    """A summary, every parameter, the result, the errors, an example; the first paragraphs may name them, too."""
    parts = sections(function)
    assert parts[""].splitlines()[0].endswith((".", ":"))
    listed = re.findall(r"^(\S.*?)(?: :.*)?$", parts.get("Parameters", ""), re.M)
    assert set(re.findall(r"\w+", " ".join(listed))) <= set(parameters(function))
    assert set(re.findall(r"\w+", " ".join([parts[""], *listed]))) >= set(parameters(function))
    is_noun = parts[""].startswith(("A ", "An ", "The "))
    assert is_noun or ("Returns" in parts or "Yields" in parts) == (
        inspect.signature(function).return_annotation != "None"
    )
    assert "Raises" in parts or "Error" in parts[""] or not parameters(function)
    assert ">>>" in parts["Examples"]


@pytest.mark.parametrize("name", [name for name in cudakern.__all__ if inspect.isclass(getattr(cudakern, name))])
def test_methods_are_documented_with_their_parameters(name):
    public = getattr(cudakern, name)
    for key, what in vars(public).items():
        if key[0] != "_" and isinstance(what, (types.FunctionType, property)):
            text = inspect.getdoc(what.fget if isinstance(what, property) else what)
            assert text, key
            told = set(re.findall(r"\w+", text))
            assert isinstance(what, property) or told >= set(parameters(what)), key


def test_modules_do_not_import_each_other_in_a_circle():
    """Imports inside functions count, those for type checkers only do not."""
    imports = {name: {one for one in imported(name) if one != name} for name in MODULES}
    while leaves := [name for name, others in imports.items() if not others & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert {name: others & imports.keys() for name, others in imports.items()} == {}


def imported(name):
    """The modules of the package whose names, or names in which, a module imports."""
    spec = importlib.util.find_spec(name)
    pending, found = [ast.parse(Path(spec.origin).read_text())], set()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            of = importlib.util.resolve_name("." * node.level + (node.module or ""), spec.parent)
            found |= {module if module in MODULES else of for module in (f"{of}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found


def test_types_are_marked():
    assert (PACKAGE / "py.typed").is_file()


def test_the_core_is_installed():
    assert list((PACKAGE / "lib").glob("libcudakern_emulator.so*"))
    assert (HEADERS / "cuda_runtime.h").is_file()


@pytest.mark.parametrize("path, compiler", COMPILED, ids=lambda value: getattr(value, "stem", value))
def test_a_users_kernels_compile_without_warnings(path, compiler):
    line = [
        compiler,
        "-std=c++17",
        "-x",
        "c++",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unknown-pragmas",
        *cuda_api.HEADERS,
        f"-I{cuda_api.ROOT / 'csrc'}",  # (a set includes the package's own headers of the seam)
        str(path),
    ]
    run = subprocess.run(line, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_host_header_is_plain_c(tmp_path):
    source = tmp_path / "plain.c"
    source.write_text(
        '#include <cuda_runtime_api.h>\n#include "backend.h"\n'
        "int main(void) { int n = 0; return cudaGetDeviceCount(&n) != cudaSuccess || n < 1; }\n"
    )
    program = tmp_path / "plain"
    library = PACKAGE / "lib"
    subprocess.run(
        [
            "cc",
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            *cuda_api.HEADERS,
            str(source),
            "-o",
            str(program),
            f"-L{library}",
            "-lcudakern_emulator",
            f"-Wl,-rpath,{library}",
        ],
        check=True,
    )
    subprocess.run([program], check=True)


CHECK = r"""
#include <stdarg.h>
#include <stdio.h>
#include "job.h"
int ck_fail(ck_error *error, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    return error->code = code;
}
const char *ck_dtype_name(int code) { return code ? "" : ""; }
static int any(const ck_call *c, ck_plan *p, ck_error *e) { return !c + !p + !e; }
static int run(const ck_call *c, const ck_plan *p, const ck_context *x, ck_error *e) { return !c + !p + !x + !e; }
int main(void) {
    const ck_operation operation = {.name = "matmul"};
    ck_variant variant = {.name = "wgmma", .backends = ~0u, .plan = any, .run = run};
    variant.capability = 90, variant.capability_exact = 1;
    const ck_limits other = {.capability = 100}, without = {.capability = 90}, with = {.capability = 90, .exact = 1};
    const ck_limits *limits[] = {&other, &without, &with};
    for (int i = 0; i < 3; i++) {
        ck_error error = {0};
        const int code = ck_check_device(&operation, &variant, limits[i], &error);
        printf("%s\n", code == CK_NOT_SUPPORTED ? "" : code == CK_OK ? "runs" : "?");
    }
    variant.capability_exact = 0;
    ck_error error = {0};
    return ck_check_device(&operation, &variant, &without, &error);
}
"""


def test_a_variant_needs_code_for_its_capability_alone(tmp_path):
    """What the build has no code for is refused before the launch, also on the right chip."""
    (tmp_path / "main.c").write_text(CHECK)
    folders = ("csrc/emulator/include", "csrc/emulator/seam", "csrc/runtime", "csrc/kernels", "csrc")
    line = ["cc", "-std=c11", *(f"-I{cuda_api.ROOT / path}" for path in folders), "-o", str(tmp_path / "check")]
    subprocess.run([*line, str(tmp_path / "main.c"), str(cuda_api.ROOT / "csrc/runtime/check.c")], check=True)
    run = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=True)
    other, without, runs = run.stdout.splitlines()
    assert "needs a device of capability 9.0 exactly, but device 0 has 10.0" in other
    assert (
        "needs code for capability 9.0a, which this build does not contain; add 90a to CUDAKERN_CUDA_ARCHS" in without
    )
    assert runs == "runs"


def test_a_variant_says_that_the_build_lacks_its_code(monkeypatch):
    """Where the device is right, but the build has no code that only this device can run."""
    variant = cudakern.variants("matmul")["wgmma_tiles"]
    with cudakern.use_backend("emulator"):
        here = cudakern.backend()
        assert variant.why_not(here) == ""
        monkeypatch.setattr(here.native, "exact_capability", 0)
        why = "it needs code for 90a, which this build does not contain"
        assert variant.why_not(here) == why
        # Snapshots, which results hold, know the build too, whatever becomes of it.
        snapshots = here.as_it_is(), pickle.loads(pickle.dumps(here)), copy.copy(here.as_it_is())
        (step,) = cudakern.ladder("matmul", n=8, dtype="float16", variants=["wgmma_tiles"])
        checks = verify(["matmul"], ["wgmma_tiles"]).checks
        timed = {line.who for line in cudakern.bench("matmul", [(8, 8, 8)], "float16", rounds=1, emulated=True).lines}
        monkeypatch.undo()
        assert variant.why_not(here) == ""
        assert {variant.why_not(snapshot) for snapshot in snapshots} == {why}
        assert step.note == f"not here: {why}"
        assert {(check.verdict, check.detail) for check in checks} == {("not here", why)}
        assert "cudakern: tensor_cores" in timed
        assert "cudakern: wgmma_tiles" not in timed


@pytest.mark.parametrize(
    "chips, capability", [("90", 0), ("80;90-ptx", 0), ("90a", 90), ("80,90a,90-ptx", 90), ("90a-ptx", 90)]
)
def test_the_build_says_whether_it_has_such_code(tmp_path, monkeypatch, chips, capability):
    for name in ("bin/nvcc", "include/cuda_runtime_api.h", "lib64/libcudart_static.a"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("CUDAKERN_NVCC", str(tmp_path / "bin/nvcc"))
    monkeypatch.setenv("CUDAKERN_CUDA_ARCHS", chips)
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    build = runpy.run_path(str(cuda_api.ROOT / "setup.py"))["cuda_build"]()
    assert f"-DCK_EXACT_CAPABILITY={capability}" in build.c_flags


@pytest.mark.parametrize("errors", ["0", "1"])
def test_the_build_tells_of_serialized_wgmma(monkeypatch, capfd, errors):
    monkeypatch.setenv("CUDAKERN_WERROR", errors)
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    setup = runpy.run_path(str(cuda_api.ROOT / "setup.py"))
    said = "ptxas info    : (C7520) Potential Performance Loss: wgmma.mma_async instructions are serialized"
    compiler = [sys.executable, "-c", f"print({said!r}), print('ptxas info    : Used 8 registers')"]
    if errors == "1":
        with pytest.raises(setup["Unavailable"], match="fastest.cu: ptxas lets each wgmma .* wait"):
            setup["run"](compiler, "fastest.cu")
    else:
        assert setup["run"](compiler, "fastest.cu") == (["ptxas info    : Used 8 registers"], True)
    assert said in capfd.readouterr().out


@pytest.fixture
def setup_py(tmp_path, monkeypatch):
    """setup.py's names, for sources in a folder of the test's own."""
    monkeypatch.setenv("CUDAKERN_OBJECTS", str(tmp_path / "objects"))
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    names = runpy.run_path(str(cuda_api.ROOT / "setup.py"))
    names["run"].__globals__["ROOT"] = tmp_path
    return names


def test_objects_are_kept_by_the_content_of_what_was_read(tmp_path, setup_py):
    """Not by time stamps: a change that is taken back finds the first object again."""
    source, header = tmp_path / "one.c", tmp_path / "one.h"

    def build(text, *flags, werror=()):
        """The object, and whether it was compiled for this."""
        header.write_text(text)
        os.utime(header, (0, 0))
        setup_py["content_of"].cache_clear()
        objects, unit = setup_py["Objects"](), setup_py["Unit"](Path("one.c"), ["gcc", *flags, *werror], "test")
        kept = objects.find(unit.key)
        return kept or objects.make(unit.key, unit.command, "one.c", str), kept is None

    source.write_text('#include "one.h"\nint f(void) { return ONE; }\n')
    os.utime(source, (0, 0))
    first, compiled = build("#define ONE 1\n")
    assert compiled
    assert build("#define ONE 1\n") == (first, False)
    second, compiled = build("#define ONE 2\n")
    assert compiled
    assert first.read_bytes() != second.read_bytes()
    assert build("#define ONE 1\n") == (first, False)
    for kept in (tmp_path / "objects").iterdir():
        os.utime(kept, (0, 0))
    assert build("#define ONE 1\n", werror=["-Werror"]) == (first, False)
    used = {path.suffix for path in (tmp_path / "objects").iterdir() if path.stat().st_mtime > 0}
    assert used == {".o", ".deps"}  # which are kept for longest
    assert build("#define ONE 1\n", "-O2")[1]
    assert build('#define ONE 1\n#warning "seen"\n')[1]
    assert build('#define ONE 1\n#warning "seen"\n')[1]  # so it is seen again


def test_old_objects_go_above_the_limit(tmp_path, setup_py):
    objects = setup_py["Objects"]()
    setup_py["run"].__globals__["OBJECTS_LIMIT"] = 2500
    for age in range(4):
        (objects.folder / f"{age}.o").write_bytes(bytes(1000))
        os.utime(objects.folder / f"{age}.o", (1000 - age, 1000 - age))
    (objects.folder / "of-another-build").symlink_to("removed")
    (objects.folder / "making-old").mkdir()
    os.utime(objects.folder / "making-old", (0, 0))
    objects.prune()
    assert {path.name for path in objects.folder.iterdir()} == {"0.o", "1.o", "of-another-build"}


def test_objects_that_others_could_plant_are_not_taken(tmp_path, setup_py):
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects").chmod(0o777)
    assert setup_py["Objects"]().folder == tmp_path / "build/objects"


def test_the_gpu_side_is_built_where_there_is_a_gpu_or_it_is_asked_for(monkeypatch, setup_py):
    names, present = setup_py["run"].__globals__, []
    names["capabilities"] = lambda: present
    check = setup_py["check_that_cuda_is_wanted"]
    monkeypatch.delenv("CUDAKERN_CUDA", raising=False)
    monkeypatch.delenv("CUDAKERN_CUDA_ARCHS", raising=False)
    with pytest.raises(setup_py["Unavailable"], match="no usable GPU.*with nvcc, `CUDAKERN_CUDA=1 pip install -e .`"):
        check()
    monkeypatch.setenv("CUDAKERN_CUDA", "1")
    check()
    assert setup_py["architectures"]("false", False) == ["90a"]
    assert setup_py["architectures"]("false", True) == ["90a", "90-ptx"]
    monkeypatch.delenv("CUDAKERN_CUDA")
    present += [80, 90]
    check()
    assert setup_py["architectures"]("false", False) == ["80", "90a"]
    monkeypatch.setenv("CUDAKERN_CUDA", "0")
    with pytest.raises(setup_py["Unavailable"], match="CUDAKERN_CUDA=0"):
        check()


def test_no_cuda_name_leaves_the_emulator():
    """A process may hold a real CUDA runtime beside it: no symbol of ours may shadow one of CUDA's."""
    nm = shutil.which("nm")
    assert nm, "nm is not there: it comes with the compiler's tools (binutils)"
    core, module = [*(PACKAGE / "lib").glob("libcudakern_emulator.so*")], [*PACKAGE.glob("_emulator*.so")]
    assert core
    assert module
    for path in core + module:
        names = subprocess.run([nm, "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True)
        found = [
            line.split()[-1] for line in names.stdout.splitlines() if line.split()[-1].startswith(("cuda", "__cuda"))
        ]
        assert found == []
