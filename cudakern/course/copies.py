"""Copies of the notebooks, and the records that they show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from .._errors import unknown
from .._installed import NOTEBOOKS, RECORDS


def record(name: str) -> Any:
    """A record of docs/results, such as "gpu_matmul"."""
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def notebooks() -> dict[str, Path]:
    """The notebooks by name: "01_tour"."""
    return {path.stem: path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def copy(folder: Path) -> tuple[list[str], list[str]]:
    """Copies the notebooks that are not in the folder. The names of those, and of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    known = notebooks()
    copied = [name for name in known if not (folder / known[name].name).exists()]
    for name in copied:
        shutil.copyfile(known[name], folder / known[name].name)
    return copied, [name for name in known if name not in copied]


def reset(folder: Path, name: str) -> tuple[str, Path | None]:
    """Restores one notebook, of which ``name`` may be the beginning ("03"). Its name, and where the one before is."""
    known = notebooks()
    wanted = Path(name).name.removesuffix(".ipynb")
    found = [one for one in known if one == wanted] or [one for one in known if wanted and one.startswith(wanted)]
    if len(found) != 1:
        raise ValueError(unknown("notebook", name, known))
    path = folder / known[found[0]].name
    before = path.with_name(f"{path.stem}_before.ipynb") if path.exists() else None
    if before is not None:
        shutil.move(path, before)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(known[found[0]], path)
    return found[0], before
