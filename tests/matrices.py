"""Pairs of matrices of float32 whose products are hard in different ways."""

import numpy as np

KINDS = (
    *("uniform", "normal", "half zero", "lognormal 2", "rows and columns scaled", "inner index scaled"),
    *("one inner column", "outliers", "lognormal 6", "one large term", "pairs cancel"),
)


def operands(kind, seed, m=64, n=64, k=1024):
    """One of KINDS, from those in which every term counts to those in which a few terms, or none, decide."""
    draw = np.random.default_rng(seed)
    a, b = draw.standard_normal((m, k)), draw.standard_normal((k, n))
    column, scale = draw.integers(k) if k else 0, np.exp2(draw.integers(-20, 21, k))
    if kind == "uniform":
        a, b = draw.random((m, k)), draw.random((k, n))
    elif kind == "half zero":
        a, b = np.maximum(a, 0), np.maximum(b, 0)
    elif kind == "rows and columns scaled":
        a, b = a * np.exp2(draw.integers(-40, 41, (m, 1))), b * np.exp2(draw.integers(-40, 41, n))
    elif kind == "inner index scaled":
        a, b = a * scale, b / scale[:, None]
    elif kind == "one inner column":
        a[:, column], b[column] = a[:, column] * 1e7, b[column] / 1e7
    elif kind == "one large term":
        a[:, column] *= 1e7
    elif kind == "outliers":
        for x in (a, b):
            x[draw.random(x.shape) < 1e-4] *= 1e4
    elif kind.startswith("lognormal"):
        a, b = (np.exp(float(kind.split()[1]) * x) for x in (a, b))
    elif kind == "pairs cancel":
        a[:, 1::2], b[1::2] = a[:, ::2], -b[::2] * (1 + 1e-3 * draw.standard_normal((k // 2, n)))
    return a.astype(np.float32), b.astype(np.float32)
