"""What the notebooks share, so that their cells show the kernels and not the plumbing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from IPython.display import Code, Markdown

import cudakern as ck
from cudakern._display import duration

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"


def show(op: str, variant: str) -> Code:
    """A variant's source, as it was compiled into the package."""
    return Code(str(ck.source(op, variant)), language="cuda")


def beside(steps: ck.Ladder, figures_ms: Mapping[str, float], whole: bool = False) -> Markdown:
    """The documents' milliseconds beside today's kernel times (whole=True: times of the whole call), step by step.

    Where the times are emulated, a step's gain is left out: it would be the emulator's, not the idea's.
    """
    emulated = steps.backend.emulated
    lines = [
        f"| variant | GeForce 8800GT | gain | here{', **emulated**' if emulated else ''} | gain |",
        "|---|--:|--:|--:|--:|",
    ]
    then_before = now_before = None
    for name, then in figures_ms.items():
        profile = steps[name].profile
        now = (profile.whole_ns if whole else profile.kernel_ns) / 1e6 if profile else None
        gain = "" if emulated else _ratio(now_before, now)
        lines.append(f"| `{name}` | {_ms(then)} | {_ratio(then_before, then)} | {_ms(now)} | {gain} |")
        then_before, now_before = then, now
    return Markdown("\n".join(lines))


def recorded(op: str) -> Markdown:
    """The ladders recorded on real chips (docs/results/), where this notebook lies in the repository."""
    parts = []
    for path in sorted(RESULTS.glob(f"ladder_{op}_*.json")):
        record = json.loads(path.read_text())
        steps = record["ladder"]["steps"]
        if not record["ladder"]["backend"]["emulated"]:
            lines = "\n".join(_recorded_line(step) for step in steps if step["profile"])
            parts.append(
                f"**{record['chip']}**, {record['date'][:10]}, from `docs/results/{path.name}`\n\n"
                f"| variant | kernel | whole call | GB/s | GFLOP/s | max error |\n|---|--:|--:|--:|--:|--:|\n{lines}"
            )
    return Markdown("\n\n".join(parts) or "*No recorded results beside this notebook.*")


def _recorded_line(step: dict) -> str:
    profile, error = step["profile"], step["error"]
    return (
        f"| `{step['variant']}`{' (CPU)' if profile['clock'] == 'host' else ''} | {_ms(profile['kernel_ns'] / 1e6)} | {_ms(profile['whole_ns'] / 1e6)} "
        f"| {profile['gb_per_s']:,.1f} | {profile['gflop_per_s']:,.1f} | {error['max']:.1e} |"
    )


def _ratio(before: float | None, now: float | None) -> str:
    return f"{before / now:.2f} x" if before and now else ""


def _ms(value: float | None) -> str:
    return "" if value is None else duration(value * 1e6)
