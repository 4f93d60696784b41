"""Inline PTX: on the emulator, C++ takes its place (cudakern/own/ptx.py); on a GPU, NVRTC compiles it."""

import functools
from fractions import Fraction

import numpy as np
import pytest

import cudakern
from test_dialect_intrinsics import nearest_float, toward


@pytest.fixture(autouse=True)
def _on(backend):
    """Each test runs on each backend that works here."""


def signed(x, bits=32):
    return x - 2**bits if x >> (bits - 1) else x


def calculator(constraint, kind, cases, operands="abc"):
    """A kernel with one asm for each case: out[i][case] of x[i], y[i], z[i]."""
    lines = "\n".join(
        f'    {{ {kind} d = 0; asm volatile("{text}" : "+{constraint}"(d) : '
        + ", ".join(f'"{constraint}"({name})' for name in operands)
        + f"); out[{len(cases)} * i + {number}] = d; }}"
        for number, text in enumerate(cases)
    )
    return (
        f"__global__ void calculate(const {kind} *x, const {kind} *y, const {kind} *z, {kind} *out, int n) {{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"    if (i >= n) return;\n    {kind} a = x[i], b = y[i], c = z[i];\n{lines}\n}}"
    )


def results(constraint, kind, cases, x, y, z):
    program = cudakern.compile(calculator(constraint, kind, cases))
    out = np.zeros((len(x), len(cases)), x.dtype)
    program.calculate[-(-len(x) // 64), 64](x, y, z, out, len(x))
    return out


# --- integers --------------------------------------------------------------------------------------------------------
def field(a, b, c, is_signed, bits=32):
    position, length = b & 255, c & 255
    last = min(position + length - 1, bits - 1)
    fill = is_signed and length and a >> last & 1
    return sum((a >> position + i & 1 if i < length and position + i < bits else fill) << i for i in range(bits))


def inserted(a, b, position, length):
    for i in range(length):
        if position + i < 32:
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


def permuted(a, b, selector):
    parts = (b << 32 | a).to_bytes(8, "little")
    nibbles = [selector >> 4 * i & 15 for i in range(4)]
    picked = [(255 if parts[n & 7] & 128 else 0) if n & 8 else parts[n & 7] for n in nibbles]
    return int.from_bytes(bytes(picked), "little")


def table(a, b, c, of):
    return sum((of >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


M = 2**32
WORDS = {
    "mov.u32 %0, %1;": lambda a, b, c: a,
    "mov.b32 %0, 0x1F;": lambda a, b, c: 31,
    "add.u32 %0, %1, %2;": lambda a, b, c: a + b,
    "sub.s32 %0, %1, %2;": lambda a, b, c: a - b,
    "mul.lo.u32 %0, %1, %2;": lambda a, b, c: a * b,
    "mul.hi.u32 %0, %1, %2;": lambda a, b, c: a * b >> 32,
    "mul.hi.s32 %0, %1, %2;": lambda a, b, c: signed(a) * signed(b) >> 32,
    "mad.lo.s32 %0, %1, %2, %3;": lambda a, b, c: a * b + c,
    "mad.hi.u32 %0, %1, %2, %3;": lambda a, b, c: (a * b >> 32) + c,
    "mul24.lo.u32 %0, %1, %2;": lambda a, b, c: (a % 2**24) * (b % 2**24),
    "sad.u32 %0, %1, %2, %3;": lambda a, b, c: abs(a - b) + c,
    "sad.s32 %0, %1, %2, %3;": lambda a, b, c: abs(signed(a) - signed(b)) + c,
    "{ .reg .u32 t; or.b32 t, %2, 1; div.u32 %0, %1, t; }": lambda a, b, c: a // (b | 1),
    "{ .reg .s32 t; or.b32 t, %2, 6; rem.s32 %0, %1, t; }": lambda a, b, c: (
        signed(a) - signed(b | 6) * quotient(signed(a), signed(b | 6))
    ),
    "abs.s32 %0, %1;": lambda a, b, c: abs(signed(a)),
    "neg.s32 %0, %1;": lambda a, b, c: -a,
    "min.u32 %0, %1, %2;": lambda a, b, c: min(a, b),
    "max.s32 %0, %1, %2;": lambda a, b, c: max(signed(a), signed(b)),
    "and.b32 %0, %1, %2;": lambda a, b, c: a & b,
    "or.b32 %0, %1, %2;": lambda a, b, c: a | b,
    "xor.b32 %0, %1, %2;": lambda a, b, c: a ^ b,
    "not.b32 %0, %1;": lambda a, b, c: ~a,
    "cnot.b32 %0, %1;": lambda a, b, c: int(a == 0),
    "{ .reg .u32 n; and.b32 n, %2, 63; shl.b32 %0, %1, n; }": lambda a, b, c: a << (b & 63),
    "{ .reg .u32 n; and.b32 n, %2, 63; shr.u32 %0, %1, n; }": lambda a, b, c: a >> (b & 63),
    "{ .reg .u32 n; and.b32 n, %2, 63; shr.s32 %0, %1, n; }": lambda a, b, c: signed(a) >> (b & 63),
    "shf.l.wrap.b32 %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
    "shf.r.clamp.b32 %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "{ .reg .u32 n, m; and.b32 n, %2, 47; and.b32 m, %3, 47; bfe.u32 %0, %1, n, m; }": lambda a, b, c: (
        field(a, b & 47, c & 47, False)
    ),
    "{ .reg .u32 n, m; and.b32 n, %2, 47; and.b32 m, %3, 47; bfe.s32 %0, %1, n, m; }": lambda a, b, c: (
        field(a, b & 47, c & 47, True)
    ),
    "bfi.b32 %0, %1, %2, 5, 11;": lambda a, b, c: inserted(a, b, 5, 11),
    "bfi.b32 %0, %1, %2, 28, 20;": lambda a, b, c: inserted(a, b, 28, 20),
    "bfind.u32 %0, %1;": lambda a, b, c: a.bit_length() - 1,
    "bfind.s32 %0, %1;": lambda a, b, c: (a if a < 2**31 else M - 1 - a).bit_length() - 1,
    "popc.b32 %0, %1;": lambda a, b, c: a.bit_count(),
    "clz.b32 %0, %1;": lambda a, b, c: 32 - a.bit_length(),
    "brev.b32 %0, %1;": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "prmt.b32 %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, c),
    "prmt.b32 %0, %1, %2, 0x5410;": lambda a, b, c: permuted(a, b, 0x5410),
    "prmt.b32.f4e %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, (0x3210, 0x4321, 0x5432, 0x6543)[c & 3]),
    "prmt.b32.b4e %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, (0x5670, 0x6701, 0x7012, 0x0123)[c & 3]),
    "prmt.b32.rc8 %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, 0x1111 * (c & 3)),
    "prmt.b32.ecl %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, (0x3210, 0x3211, 0x3222, 0x3333)[c & 3]),
    "prmt.b32.ecr %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, (0x0000, 0x1110, 0x2210, 0x3210)[c & 3]),
    "prmt.b32.rc16 %0, %1, %2, %3;": lambda a, b, c: permuted(a, b, (0x1010, 0x3232)[c & 1]),
    "mov.u32 %0, 123 + 0x7B * (7 - 4) << 1;": lambda a, b, c: (123 + 123 * 3) << 1,
    "and.b32 %0, %1, ~(1 << 4);": lambda a, b, c: a & ~16,
    "add.u32 %0, %1, 5U > 3 ? 10 / 3 : -1;": lambda a, b, c: a + 3,
    "lop3.b32 %0, %1, %2, %3, 0x96;": lambda a, b, c: a ^ b ^ c,
    "lop3.b32 %0, %1, %2, %3, 0x3a;": lambda a, b, c: table(a, b, c, 0x3A),
    "dp4a.u32.u32 %0, %1, %2, %3;": lambda a, b, c: (
        sum((a >> i & 255) * (b >> i & 255) for i in range(0, 32, 8)) + c
    ),
    "{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, %1, %2, p; }": lambda a, b, c: min(signed(a), signed(b)),
    "{ .reg .pred p, q; setp.hi.u32 p|q, %1, %2; @p mov.u32 %0, 1; @q mov.u32 %0, 2; }": lambda a, b, c: 1 + (a <= b),
    "{ .reg .pred p<3>; setp.ge.u32 p0, %1, %2; setp.eq.u32 p1, %1, 0; or.pred p2, p0, p1; not.pred p2, p2;"
    " @!p2 mov.u32 %0, 9; }": lambda a, b, c: 9 if a >= b or a == 0 else 0,
    "{ .reg .u32 l, h; .reg .u64 wide; mul.wide.u32 wide, %1, %2; mov.b64 {l, h}, wide; add.u32 %0, l, h; }":
        lambda a, b, c: a * b % M + (a * b >> 32),
    "{ .reg .b16 h<2>; mov.b32 {h0, h1}, %1; mov.b32 %0, {h1, h0}; }": lambda a, b, c: a >> 16 | a << 16,
    "{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %3, 0; }": lambda a, b, c: c + (a + b >> 32),
    "{ .reg .u32 t; sub.cc.u32 t, %1, %2; subc.u32 %0, %3, 0; }": lambda a, b, c: c - (a < b),
    "{ .reg .u32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, %1, %2, 5; }": lambda a, b, c: (
        (a * b >> 32) + 5 + (a * b % M + c >> 32)
    ),
    "{ .reg .u32 t; mov.u32 t, %1; // a comment\\n /* and one more */ { .reg .u32 t; mov.u32 t, 7; } mov.u32 %0, t; }":
        lambda a, b, c: a,
    "cvt.u32.u8 %0, %1;": lambda a, b, c: a & 255,
    "cvt.s32.s16 %0, %1;": lambda a, b, c: signed(a & 65535, 16),
    "cvt.sat.s8.s32 %0, %1;": lambda a, b, c: max(-128, min(127, signed(a))),
    "{ .reg .f32 f; cvt.rn.f32.s32 f, %1; cvt.rni.s32.f32 %0, f; }": lambda a, b, c: (
        max(-(2**31), min(2**31 - 1, int(np.float32(signed(a)))))
    ),
}  # fmt: skip


def words(n=300, bits=32):
    draw = np.random.default_rng(bits)
    ends = [0, 1, 5, 31, 32, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1]
    pairs = [(a, b, a ^ b) for a in ends for b in ends]
    many = draw.integers(0, 2**bits, (n, 3), dtype=np.uint64)
    return np.concatenate([np.array(pairs, np.uint64), many]).astype(f"u{bits // 8}").T.copy()


def test_integers():
    x, y, z = words()
    got = results("r", "unsigned", WORDS, x, y, z)
    for column, (text, function) in enumerate(WORDS.items()):
        expected = [function(*row) % M for row in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
        assert got[:, column].tolist() == expected, text


LONG = 2**64
LONGS = {
    "add.u64 %0, %1, %2;": lambda a, b, c: a + b,
    "mul.lo.u64 %0, %1, %2;": lambda a, b, c: a * b,
    "mul.hi.u64 %0, %1, %2;": lambda a, b, c: a * b >> 64,
    "mul.hi.s64 %0, %1, %2;": lambda a, b, c: signed(a, 64) * signed(b, 64) >> 64,
    "mad.lo.u64 %0, %1, %2, %3;": lambda a, b, c: a * b + c,
    "min.s64 %0, %1, %2;": lambda a, b, c: min(signed(a, 64), signed(b, 64)),
    "and.b64 %0, %1, %2;": lambda a, b, c: a & b,
    "shl.b64 %0, %1, 37;": lambda a, b, c: a << 37,
    "shr.s64 %0, %1, 70;": lambda a, b, c: signed(a, 64) >> 63,
    "brev.b64 %0, %1;": lambda a, b, c: int(f"{a:064b}"[::-1], 2),
    "bfe.u64 %0, %1, 13, 40;": lambda a, b, c: field(a, 13, 40, False, 64),
    "bfe.s64 %0, %1, 13, 40;": lambda a, b, c: field(a, 13, 40, True, 64),
    "{ .reg .u32 n; popc.b64 n, %1; cvt.u64.u32 %0, n; }": lambda a, b, c: a.bit_count(),
    "{ .reg .u32 n; clz.b64 n, %1; cvt.u64.u32 %0, n; }": lambda a, b, c: 64 - a.bit_length(),
    "{ .reg .u32 l, h; mov.b64 {l, h}, %1; mad.wide.u32 %0, l, h, %3; }": lambda a, b, c: a % M * (a >> 32) + c,
    "{ .reg .s32 l, h; mov.b64 {l, h}, %1; mul.wide.s32 %0, l, h; }": lambda a, b, c: (
        signed(a % M) * signed(a >> 32)
    ),
    "{ .reg .u32 l, h; mov.b64 {l, h}, %1; mov.b64 %0, {h, l}; }": lambda a, b, c: a >> 32 | a << 32,
    "{ .reg .pred p; setp.gt.s64 p, %1, %2; selp.u64 %0, 1, 2, p; }": lambda a, b, c: (
        1 if signed(a, 64) > signed(b, 64) else 2
    ),
    "{ .reg .u64 t; add.cc.u64 t, %1, %2; addc.u64 %0, %3, 0; }": lambda a, b, c: c + (a + b >> 64),
}  # fmt: skip


def test_integers_of_64_bits():
    x, y, z = words(bits=64)
    got = results("l", "unsigned long long", LONGS, x, y, z)
    for column, (text, function) in enumerate(LONGS.items()):
        expected = [function(*row) % LONG for row in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
        assert got[:, column].tolist() == expected, text


# --- floating point --------------------------------------------------------------------------------------------------
WAYS = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}
EXACT = {
    "add": ("{0}.{1}.{2} %0, %1, %2;", lambda a, b, c: a + b),
    "sub": ("{0}.{1}.{2} %0, %1, %2;", lambda a, b, c: a - b),
    "mul": ("{0}.{1}.{2} %0, %1, %2;", lambda a, b, c: a * b),
    "div": ("{0}.{1}.{2} %0, %1, %2;", lambda a, b, c: a / b),
    "fma": ("{0}.{1}.{2} %0, %1, %2, %3;", lambda a, b, c: a * b + c),
    "rcp": ("{0}.{1}.{2} %0, %1;", lambda a, b, c: 1 / a),
}


@pytest.mark.parametrize("kind, letter, dtype", [("f32", "f", np.float32), ("f64", "d", np.float64)])
def test_arithmetic_in_four_directions(kind, letter, dtype):
    draw = np.random.default_rng(1)
    x, y, z = (draw.standard_normal((3, 200)) * 2.0 ** draw.integers(-9, 9, (3, 200))).astype(dtype)
    cases = {text.format(op, way, kind): (op, how) for op, (text, _) in EXACT.items() for way, how in WAYS.items()}
    got = results(letter, {"f": "float", "d": "double"}[letter], cases, x, y, z)
    for i, row in enumerate(zip(x.tolist(), y.tolist(), z.tolist(), strict=True)):
        for column, (op, how) in enumerate(cases.values()):
            exact = EXACT[op][1](*map(Fraction, row))
            assert got[i, column] == (
                toward(exact, how, dtype) if how != "rn" or dtype is np.float64 else nearest(exact)
            )


def nearest(exact):
    """A fraction as a float, rounded once."""
    for candidate in (
        middle := nearest_float(exact),
        *(np.nextafter(middle, np.float32(s)) for s in (-np.inf, np.inf)),
    ):
        if abs(Fraction(float(candidate)) - exact) < abs(Fraction(float(middle)) - exact):
            middle = candidate
    return middle


FLOATS = {
    "add.f32 %0, %1, %2;": lambda a, b, c: a + b,
    "mov.f32 %0, 0f3FC00000;": lambda a, b, c: 1.5 + 0 * a,
    "mov.f32 %0, -2.25;": lambda a, b, c: -2.25 + 0 * a,
    "min.f32 %0, %1, %2;": lambda a, b, c: np.minimum(a, b),
    "max.f32 %0, %1, %2;": lambda a, b, c: np.maximum(a, b),
    "abs.f32 %0, %1;": lambda a, b, c: np.abs(a),
    "neg.f32 %0, %1;": lambda a, b, c: -a,
    "copysign.f32 %0, %1, %2;": lambda a, b, c: np.copysign(b, a),
    "add.sat.f32 %0, %1, %2;": lambda a, b, c: np.clip(a + b, 0, 1),
    "{ .reg .pred p; setp.ltu.f32 p, %1, %2; selp.f32 %0, %1, %2, p; }": lambda a, b, c: np.minimum(a, b),
    "cvt.rni.f32.f32 %0, %1;": lambda a, b, c: np.rint(a),
    "cvt.rmi.f32.f32 %0, %1;": lambda a, b, c: np.floor(a),
    "{ .reg .f64 d; cvt.f64.f32 d, %1; mul.f64 d, d, 0d3FE0000000000000; cvt.rn.f32.f64 %0, d; }": lambda a, b, c: (
        a / 2
    ),
    "{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.f32.f16 %0, h; }": lambda a, b, c: (
        a.astype(np.float16).astype(np.float32)
    ),
    "{ .reg .b16 h, k; cvt.rn.f16.f32 h, %1; cvt.rn.f16.f32 k, %2; fma.rn.f16 h, h, k, k; cvt.f32.f16 %0, h; }":
        lambda a, b, c: (half(half(a) * half(b) + half(b))),
    "{ .reg .b32 h; .reg .b16 l, u; cvt.rn.f16x2.f32 h, %1, %2; add.rn.f16x2 h, h, h; mov.b32 {l, u}, h;"
    " cvt.f32.f16 %0, u; }": lambda a, b, c: half(2 * half(a)),
}  # fmt: skip
APPROXIMATE = {
    "ex2.approx.f32 %0, %1;": np.exp2,
    "lg2.approx.f32 %0, %3;": None,
    "sin.approx.f32 %0, %1;": np.sin,
    "cos.approx.f32 %0, %1;": np.cos,
    "tanh.approx.f32 %0, %1;": np.tanh,
    "sqrt.approx.f32 %0, %3;": None,
    "rsqrt.approx.f32 %0, %3;": None,
    "rcp.approx.ftz.f32 %0, %3;": None,
    "div.approx.f32 %0, %1, %3;": None,
    "sqrt.rn.f32 %0, %3;": None,
}


def half(x):
    return x.astype(np.float64).astype(np.float16).astype(np.float64)


def test_floats():
    draw = np.random.default_rng(2)
    x, y = draw.standard_normal((2, 300)).astype(np.float32) * 3
    z = draw.uniform(0.1, 9, 300).astype(np.float32)
    got = results("f", "float", {**FLOATS, **APPROXIMATE}, x, y, z)
    for column, (text, function) in enumerate(FLOATS.items()):
        assert np.array_equal(got[:, column], function(x, y, z).astype(np.float32)), text
    wide = z.astype(np.float64)
    of_z = iter([np.log2(wide), np.sqrt(wide), 1 / np.sqrt(wide), 1 / wide, x / wide, np.sqrt(wide)])
    for column, function in enumerate(APPROXIMATE.values(), len(FLOATS)):
        expected = function(x.astype(np.float64)) if function else next(of_z)
        # tanh.approx is off by up to 2^-11
        np.testing.assert_allclose(got[:, column], expected, rtol=6e-4, atol=1e-5)
    assert np.array_equal(got[:, -1], np.sqrt(z))


# --- threads ---------------------------------------------------------------------------------------------------------
PLACES = r"""
__global__ void places(unsigned *out) {
    unsigned t = threadIdx.y * blockDim.x + threadIdx.x, *mine = out + 16 * t, i = 0;
#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(mine[i])); ++i
    READ("laneid"); READ("tid.x"); READ("tid.y"); READ("ntid.x"); READ("ctaid.x"); READ("nctaid.x");
    READ("lanemask_eq"); READ("lanemask_lt"); READ("lanemask_le"); READ("lanemask_gt"); READ("lanemask_ge");
    unsigned warp, sm, sms;
    asm("mov.u32 %0, %warpid;" : "=r"(warp));
    asm("mov.u32 %0, %smid;" : "=r"(sm));
    asm("mov.u32 %0, %nsmid;" : "=r"(sms));
    mine[11] = warp < 64 && sm < sms;
    unsigned long long clock, later, ns, then;
    asm volatile("mov.u64 %0, %clock64;" : "=l"(clock));
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns) :: "memory");
    asm volatile("nanosleep.u32 1000;");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(later));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(then));
    mine[12] = later > clock && then >= ns;
}"""


def test_places_and_clocks():
    out = np.zeros((48, 16), np.uint32)
    source = PLACES.replace('#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(mine[i])); ++i', "")
    for name in ("laneid", "tid.x", "tid.y", "ntid.x", "ctaid.x", "nctaid.x", "lanemask_eq", "lanemask_lt",
                 "lanemask_le", "lanemask_gt", "lanemask_ge"):  # fmt: skip
        source = source.replace(f'READ("{name}");', f'asm volatile("mov.u32 %0, %%{name};" : "=r"(mine[i])); ++i;')
    cudakern.compile(source).places[1, (16, 3)](out)
    for t, row in enumerate(out.tolist()):
        lane = t % 32
        below = 2**lane - 1
        masks = [2**lane, below, below | 2**lane, 2**32 - 1 - (below | 2**lane), 2**32 - 1 - below]
        assert row[:13] == [lane, t % 16, t // 16, 16, 0, 1, *masks, 1, 1]


WARPS = r"""
__global__ void warps(const unsigned *x, unsigned *out) {
    unsigned t = threadIdx.x, v = x[t], *mine = out + 16 * t;
    asm volatile("shfl.sync.idx.b32 %0, %1, 5, 31, 0xffffffff;" : "=r"(mine[0]) : "r"(v));
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, -1;" : "=r"(mine[1]) : "r"(v), "r"(3));
    asm volatile("{ .reg .pred p; .reg .b32 r; shfl.sync.down.b32 r|p, %2, %3, 0x1007, %4;\n\t"
                 "mov.u32 %0, r; selp.u32 %1, 1, 0, p; }"
                 : "=r"(mine[2]), "=r"(mine[3]) : "r"(v), "n"(6), "r"(0xffffffffu));
    asm volatile("shfl.sync.bfly.b32 %0, %1, 9, 0x1f, 0xffffffff;" : "=r"(mine[4]) : "r"(v));
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 7; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(mine[5]) : "r"(v));
    asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %3, 7; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q;"
                 "  vote.sync.all.pred q, !p, -1; selp.u32 %1, 1, 0, q; vote.sync.uni.pred q, p, -1;"
                 "  selp.u32 %2, 1, 0, q; }" : "=r"(mine[6]), "=r"(mine[7]), "=r"(mine[8]) : "r"(v));
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(mine[9]) : "r"(v));
    asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, 0xffffffff; selp.u32 %1, 1, 0, p; }"
                 : "=r"(mine[10]), "=r"(mine[11]) : "r"(t / 32));
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(mine[12]) : "r"(v));
    asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(mine[13]) : "r"(v));
    asm volatile("redux.sync.xor.b32 %0, %1, 0xffffffff;" : "=r"(mine[14]) : "r"(v));
    asm volatile("bar.warp.sync 0xffffffff; activemask.b32 %0;" : "=r"(mine[15]));
}"""


def test_warps():
    x = np.random.default_rng(3).integers(0, 16, 64).astype(np.uint32)
    out = np.zeros((64, 16), np.uint32)
    cudakern.compile(WARPS).warps[1, 64](x, out)
    for t, row in enumerate(out.tolist()):
        lane, v = t % 32, x[t - t % 32 : t - t % 32 + 32].tolist()
        # c = 0x1007: segments of 16 lanes, of which the last lane that may be read is 7
        limit = (lane & 16) | 7
        in_range = lane + 6 <= limit
        ballot = sum((value > 7) << i for i, value in enumerate(v))
        expected = [v[5], v[lane - 3 if lane >= 3 else lane], v[lane + 6] if in_range else v[lane], int(in_range)]
        expected += [v[lane ^ 9], ballot, int(ballot != 0), int(ballot == 0), int(ballot in (0, 2**32 - 1))]
        expected += [sum((value == v[lane]) << i for i, value in enumerate(v)), 2**32 - 1, 1]
        expected += [sum(v), max(v), int(np.bitwise_xor.reduce(v))]
        assert row[:15] == expected, t


BLOCKS = r"""
__global__ void block(const int *x, int *out) {
    __shared__ int first[64], second[64];
    unsigned t = threadIdx.x, at = static_cast<unsigned>(__cvta_generic_to_shared(first));
    asm volatile("st.shared.u32 [%0], %1;" :: "r"(at + 4 * t), "r"(x[t]) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    int other;
    asm volatile("ld.shared.s32 %0, [%1+252];" : "=r"(other) : "r"(at - 4 * t));
    second[t] = other;
    if (t < 32) {
        asm volatile("barrier.sync 3, 32;" ::: "memory");
        out[t] = second[31 - t];
    } else {
        asm volatile("bar.sync %0, %1;" :: "r"(4), "r"(32) : "memory");
        out[t] = second[95 - t];
    }
    asm volatile("membar.gl; fence.acq_rel.gpu;" ::: "memory");
    __syncthreads();
    asm volatile("red.shared.add.u32 [%0], 1;" :: "r"(at) : "memory");
    __syncthreads();
    if (t == 0) out[64] = first[0];
    __syncthreads();
    if (t < 32) { // the second warp waits for the first one, which goes on
        second[t] = ~t;
        asm volatile("bar.arrive 5, 64;" ::: "memory");
    } else {
        asm volatile("barrier.cta.sync 5, 64;" ::: "memory");
        out[33 + t] = second[t - 32];
    }
}
__global__ void copies(const float4 *x, float4 *out) {
    __shared__ float4 tile[64];
    unsigned t = threadIdx.x, to = static_cast<unsigned>(__cvta_generic_to_shared(tile + t));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x + t));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" :: "n"(0));
    __syncthreads();
    out[t] = tile[63 - t];
}"""


def test_shared_memory_and_barriers():
    program = cudakern.compile(BLOCKS)
    x, out = np.arange(64, dtype=np.int32) * 3, np.zeros(97, np.int32)
    program.block[1, 64](x, out)
    reverse = x[::-1]
    assert out[:64].tolist() == [*reverse[31::-1], *reverse[63:31:-1]]
    assert out[64] == x[0] + 64
    assert out[65:].tolist() == [~t for t in range(32)]
    tiles = np.random.default_rng(4).random((64, 4), np.float32)
    back = np.zeros_like(tiles)
    program.copies[1, 64](tiles, back)
    assert np.array_equal(back, tiles[::-1])


MEMORY = r"""
__global__ void memory(const unsigned char *bytes, const float4 *four, int *integers, float *floats,
                       unsigned long long *sum) {
    unsigned t = threadIdx.x;
    int *mine = integers + 8 * t;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(mine[0]) : "l"(bytes + t));
    asm volatile("ld.global.ca.s8 %0, [%1];" : "=r"(mine[1]) : "l"(bytes + t));
    asm("ld.global.nc.s16 %0, [%1+2];" : "=r"(mine[2]) : "l"(bytes + 2 * t));
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(mine[3]) : "l"(bytes + 4 * t));
    float a, b, c, d;
    asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(four + t));
    asm volatile("st.global.cg.v2.f32 [%0], {%2, %1};" :: "l"(floats + 4 * t), "f"(a), "f"(b) : "memory");
    asm volatile("st.global.wb.f32 [%0 + 8], %1;\n\tst.global.cs.f32 [%0 + 12], %2;"
                 :: "l"(floats + 4 * t), "f"(c), "f"(d) : "memory");
    asm volatile("st.global.u8 [%0], %1;" :: "l"((char *)(mine + 4)), "r"(300) : "memory");
    unsigned long long address;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(sum));
    asm volatile("red.global.add.u64 [%0], %1;" :: "l"(address), "l"((unsigned long long)t) : "memory");
    asm volatile("atom.global.cas.b32 %0, [%1], 0, 5;" : "=r"(mine[5]) : "l"(mine + 6) : "memory");
    asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(a) : "l"(floats + 4 * t), "f"(1.0f) : "memory");
    asm volatile("st.global.s32 [%0+28], %1;" :: "l"(mine), "r"(-7) : "memory");
    asm volatile("prefetch.global.L1 [%0];" :: "l"(bytes));
}"""


def test_loads_stores_and_atomics():
    draw = np.random.default_rng(5)
    raw = draw.integers(0, 256, 300).astype(np.uint8)
    four = draw.integers(0, 99, (64, 4)).astype(np.float32)
    integers, floats, total = np.zeros((64, 8), np.int32), np.zeros((64, 4), np.float32), np.zeros(1, np.uint64)
    cudakern.compile(MEMORY).memory[1, 64](raw, four, integers, floats, total)
    t = np.arange(64)
    assert np.array_equal(integers[:, 0], raw[:64])
    assert np.array_equal(integers[:, 1], raw[:64].view(np.int8))
    assert np.array_equal(integers[:, 2], raw[2:130].view(np.int16))
    assert np.array_equal(integers[:, 3], raw[:256].view(np.int32))
    assert np.array_equal(integers[:, 4:], np.tile([300 % 256, 0, 5, -7], (64, 1)))
    assert np.array_equal(floats, np.stack([four[:, 1] + 1, *four[:, [0, 2, 3]].T], axis=1))
    assert total[0] == t.sum()


# --- the forms of asm ------------------------------------------------------------------------------------------------
FORMS = r"""
#define ADD(to, by) \
    asm volatile("add.u32 %0, %0, %1;" \
                 : "+r"(to) \
                 : "r"(by))
template <int N> __device__ int twice(int x) {
    int result;
    asm("mul.lo.s32 %0, %1, %2;" : "=r"(result) : "r"(x), "n"(N + 1));
    return result;
}
__global__ void forms(int *out, float *f, short *h) {
    int x = 5, y = 2;
    ADD(x, y); ADD(x, 10);
    out[0] = x;
    out[1] = twice<1>(21);
    asm volatile (
        "{\n"                       // a block
        "  .reg .s32 t;\n"
        "  add.s32 t, %1, %2;\n"
        "  add.s32 %0, t, 1;\n"
        "}"
        : "=r"(out[2])
        : "r"(y), "r"(x > 3 ? 1 : 0)
    );
    asm(R"(mov.b32 %0, %1;)" : "=r"(out[3]) : "f"(1.0f));
    asm("add.s32 %0, %0, 1;" : "+r"(x));
    out[4] = x;
    asm("add.s16 %0, %1, %2;" : "=h"(h[0]) : "h"(h[0]), "h"((short)3));
    if (y == 2) asm("mov.f32 %0, 0f40000000;" : "=f"(f[0])); else f[0] = 1;
#if __CUDA_ARCH__ < 100
    asm("no.such.instruction %0;" : "=r"(x));
#endif
    unsigned long long p = 3;
    asm("{ .reg .u64 %q; mov.u64 %q, 4; add.u64 %0, %0, %q; }" : "+l"(p));
    out[5] = (int)p;
    out[6] = __LINE__;
}"""


def test_the_forms_of_asm():
    out, f, h = np.zeros(7, np.int32), np.zeros(1, np.float32), np.array([4], np.int16)
    source = FORMS.replace("%q", "q")
    cudakern.compile(source).forms[1, 1](out, f, h)
    line = source.splitlines().index("    out[6] = __LINE__;") + 1
    assert out.tolist() == [17, 42, 4, 0x3F800000, 18, 7, line]
    assert (f[0], h[0]) == (2, 7)


def test_an_asm_in_an_included_file(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "lane.cuh").write_text(
        '__device__ unsigned lane() {\n    unsigned n;\n    asm("mov.u32 %0, %laneid;" : "=r"(n));\n    return n;\n}\n'
        "__device__ int line() { return __LINE__; }\n"
    )
    (tmp_path / "main.cu").write_text(
        '#include "parts/lane.cuh"\n__global__ void f(int *x) { x[threadIdx.x] = lane() + 100 * line(); }\n'
    )
    out = np.zeros(40, np.int32)
    cudakern.compile(str(tmp_path / "main.cu")).f[1, 40](out)
    assert out.tolist() == [t % 32 + 600 for t in range(40)]


def test_a_carry_from_one_asm_to_the_next():
    source = r"""
    __global__ void add(const unsigned *x, const unsigned *y, unsigned *sum) {
        asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum[0]) : "r"(x[0]), "r"(y[0]));
        asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum[1]) : "r"(x[1]), "r"(y[1]));
        asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum[2]) : "r"(x[2]), "r"(y[2]));
        asm volatile("addc.u32 %0, %1, %2;" : "=r"(sum[3]) : "r"(x[3]), "r"(y[3]));
    }"""
    program = cudakern.compile(source)
    for x, y in ((2**96 - 1, 1), (2**127 + 2**64 - 1, 2**126 + 12345), (2**32 - 1, 2**32 - 1)):
        words, out = [np.frombuffer(v.to_bytes(16, "little"), np.uint32) for v in (x, y)], np.zeros(4, np.uint32)
        program.add[1, 1](*words, out)
        assert int.from_bytes(out.tobytes(), "little") == (x + y) % 2**128


def test_lanes_that_never_arrive():
    source = r"""
    __global__ void half(int *out) {
        if (threadIdx.x < 16)
            asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(out[threadIdx.x]) : "r"(1));
        else
            __syncwarp();
    }"""
    with cudakern.use_backend("emulator"), pytest.raises(cudakern.CudaError, match=r"kernel half, .*:4, block"):
        cudakern.compile(source).half[1, 32](np.zeros(32, np.int32))


UNKNOWN = {
    'asm("wgmma.fence.sync.aligned;");': "does not have the PTX instruction wgmma.fence.sync.aligned",
    'asm("mov.u32 %0, %nosuch;" : "=r"(x[0]));': "does not have the PTX operand %nosuch",
    'asm("add.u32 %0, %3, 1;" : "=r"(x[0]));': "asm has no operand %3",
    'asm("ld.global.u32 %0;" : "=r"(x[0]));': "ld.global.u32 has other operands than %0",
    'asm("add.u32 %[to], 1, 1;" : [to] "=r"(x[0]));': "must have the form constraint (expression)",
    'asm("LOOP: brx.idx LOOP, x;");': "does not have the PTX instruction brx.idx",
    'asm("bra 5;");': "bra has other operands than 5",
    'asm("add.u32 %0, 1;" : "=r"(x[0]));': "add.u32 has 3 operands, not 2",
    'asm("mov.b128 %0, 1;" : "=q"(x[0]));': "does not have the constraint =q",
    'asm("add.u32 %0, %1, 1;" : "=r"(x[0]) : "0"(y));': "does not have the constraint 0",
    'asm("{ add.u32 %0, %0, 1;" : "+r"(x[0]));': None,
    'asm("add.u32 %0, %0, 1" TEXT : "+r"(x[0]));': "the text of asm must be a string, not TEXT",
    'asm("add.u32 %0, %1, 1;" : "=r"(x[0]) : "r"(nothing));': "nothing",
}


@pytest.mark.parametrize(
    "statement", [pytest.param(s, marks=pytest.mark.full if i % 4 else ()) for i, s in enumerate(UNKNOWN)]
)
def test_what_the_emulator_does_not_know_is_named_with_its_line(statement):
    with cudakern.use_backend("emulator"):
        with pytest.raises(cudakern.CompileError) as caught:
            cudakern.compile(f"__global__ void f(int *x) {{\n    int y = 1;\n    {statement}\n    x[1] = y;\n}}").f[
                1, 1
            ](None)
        message = str(caught.value)
        assert f"{statement}" in message or UNKNOWN[statement] is None, message
        assert "kernels.cu:" in message
        if UNKNOWN[statement]:
            assert "kernels.cu:3:" in message
            assert UNKNOWN[statement] in message, message
        assert "emu_" not in message


# --- matrices --------------------------------------------------------------------------------------------------------
#: The types of A and B, of C and D, k, and how many elements a register has.
PRODUCTS = {
    "f16": (np.float16, "f32", (8, 16), 2), "f16 ": (np.float16, "f16", (8, 16), 2), "bf16": (None, "f32", (8, 16), 2),
    "tf32": (np.float32, "f32", (4, 8), 1), "s8": (np.int8, "s32", (16, 32), 4), "u8": (np.uint8, "s32", (16, 32), 4),
}  # fmt: skip


CASES = [(kind, k) for kind, row in PRODUCTS.items() for k in row[2]]


def multiply(number, kind, k):
    """A kernel of one product."""
    _, of, _, count = PRODUCTS[kind]
    kind, n, m = kind.strip(), 2 if of == "f16" else 4, (k // 2 + k // 4) // count
    names = iter(range(n + m))
    sizes = (n, k // 2 // count, k // 4 // count)
    result, left, right = (", ".join(f"%{next(names)}" for _ in range(size)) for size in sizes)
    return f"""__global__ void multiply{number}(const unsigned *in, unsigned *out) {{
    unsigned d[{n}], r[{m}];
    for (int i = 0; i < {n}; ++i) d[i] = out[threadIdx.x * {n} + i];
    for (int i = 0; i < {m}; ++i) r[i] = in[threadIdx.x * {m} + i];
    asm("mma.sync.aligned.m16n8k{k}.row.col.{of}.{kind}.{kind}.{of} {{{result}}}, {{{left}}}, {{{right}}},"
        " {{{result}}};" : {", ".join(f'"+r"(d[{i}])' for i in range(n))}
        : {", ".join(f'"r"(r[{i}])' for i in range(m))});
    for (int i = 0; i < {n}; ++i) out[threadIdx.x * {n} + i] = d[i];
}}
"""


@functools.cache
def products():
    """All of them in one program: the headers take most of the time that one would take."""
    return cudakern.compile("".join(multiply(number, *case) for number, case in enumerate(CASES)))


@pytest.mark.parametrize("kind, k", CASES)
def test_products_of_matrices(kind, k):
    dtype, of, _, count = PRODUCTS[kind]
    kernel = products()[f"multiply{CASES.index((kind, k))}"]
    kind, draw = kind.strip(), np.random.default_rng(k)
    a, b, c = (draw.integers(0, 5, shape) for shape in ((16, k), (k, 8), (16, 8)))

    def words(x):
        if kind == "bf16":
            return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)
        return np.ascontiguousarray(x, dtype).view(np.uint32)

    a_words, b_words = words(a).reshape(16, -1), words(np.ascontiguousarray(b.T)).reshape(8, -1)
    lanes = [(lane // 4, lane % 4) for lane in range(32)]
    registers = [[a_words[g + 8 * (i % 2), t + 4 * (i // 2)] for i in range(k // 2 // count)]
                 + [b_words[g, t + 4 * i] for i in range(k // 4 // count)] for g, t in lanes]  # fmt: skip
    sums = {"f32": np.float32, "f16": np.float16, "s32": np.int32}[of]
    of_lane = [[c[g + i // 2 * 8, 2 * t + i % 2] for i in range(4)] for g, t in lanes]
    d = np.array(of_lane, sums).view(np.uint32).copy()
    kernel[1, 32](np.array(registers, np.uint32), d)
    product = a @ b + c
    expected = [[product[g + i // 2 * 8, 2 * t + i % 2] for i in range(4)] for g, t in lanes]
    assert d.view(sums).tolist() == np.array(expected, sums).tolist()


def test_operands_without_a_comma_between_them():
    source = 'asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(x[0]) : "r"(0x01020304) "r"(0x04030201), "r"(7));'
    out = np.zeros(1, np.uint32)
    with cudakern.use_backend("emulator"):
        cudakern.compile(f"__global__ void f(unsigned *x) {{ {source} }}").f[1, 1](out)
    assert out[0] == 15
