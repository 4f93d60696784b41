"""The programs of tests/programs: how each is compiled and run, and what it must do."""

from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
#: What the emulator cannot run yet, and why.
NOT_YET = {
    line.split("  ")[0]: line.split("  ")[-1].strip()
    for line in (PROGRAMS / "not_yet.txt").read_text().splitlines()
    if line and line[0] != "#"
}
ALL = sorted(path for path in PROGRAMS.iterdir() if path.suffix == ".cu" or path.is_dir())


class Described:
    """What the first lines of a program say: its arguments, its input, and how it ends."""

    def __init__(self, path):
        self.words = (path / "build.txt").read_text().split() if path.is_dir() else [path.name]
        self.folder = path if path.is_dir() else path.parent
        files = [self.folder / word for word in self.words if Path(word).suffix in (".cu", ".cpp")]
        head = [line for file in files for line in file.read_text().splitlines()[:5]]

        def after(label, default=""):
            found = (line.partition(label)[2].strip() for line in head if line.startswith(label))
            return next(found, default)

        self.arguments = after("// Arguments:").split()
        self.input = after("// Input:").replace("\\n", "\n")
        self.exit_code = int(after("// Exit code:", "0"))
        self.output = path.with_suffix(".out").read_text() if path.with_suffix(".out").exists() else None

    def is_right(self, exit_code, output):
        return exit_code == self.exit_code and self.output in (None, output)
