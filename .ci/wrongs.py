"""compute-sanitizer's verdict beside cudakern.check's on the kernels of tests/wrong, for the step `wrongs` of
.ci/record."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "tests/wrong_kernels.py"
AT_ONCE = 8  #: processes on the GPU
ONE_S = 60  #: for a process with one twin, after which it is ended
TOGETHER = 20  #: right twins in a process, all of one tool
#: The tools and their options: all that helps them to find more, if this version knows it. racecheck's analysis (the
#: default) names all pairs of lines; its list of hazards, a line per byte, would end at a limit.
TOOLS = {
    "memcheck": ("--report-api-errors explicit", "--padding 1024"),
    "racecheck": ("--racecheck-deadlock-timeout 5000",),
    "initcheck": ("--initcheck-address-space all",),
    "synccheck": (),
}
#: What they look for only if they are asked to, as our checker does.
ON_REQUEST = {("leak", "memcheck"): ("--leak-check full",), ("unwritten", "initcheck"): ("--track-unused-memory",)}
#: Lines of a tool that are no reports.
OTHER_LINES = re.compile(
    r"COMPUTE-SANITIZER|(ERROR|RACECHECK|LEAK) SUMMARY|Target application|Error: (process|No|Target)|Internal|"
    r"Warning: (Detected overflow|Failed|No)|Saved host|Process|Unable|The following|Leaked (?!.* on the device heap)"
)
#: What the record has besides rows, by case.
BY_CASE = ("not_compiled", "ends_with_an_error", "reports", "cudakern_besides")
HANGS = json.dumps({"error": "hangs"})  #: what the driver also says, in a line with @
#: Verdicts that say that the measurement is not complete.
INCOMPLETE = ("no time left", "no summary")
TWINS = ("wrong", "right")
#: Of cudakern.check.
HUNG, NO_TIME = ({"verdict": verdict, "kinds": "", "else": []} for verdict in ("hangs", "no time left"))


def reports(output):
    """The reports in a tool's text, each as [its first line, the following ones...]."""
    listed = []
    for line in re.findall(r"^={9} ?(.*)$", output, re.M):
        if listed and line.startswith("   ") or line.startswith("and "):
            listed[-1:] = [[*listed[-1], line.strip()]] if listed else []
        elif line.strip():
            listed.append([line.strip()])
    return [one for one in listed if not OTHER_LINES.match(one[0])]


def lines_of(report, case):
    """The lines of the case's file that a report names: "in reverse.cu:12", "in a/reverse.cu:12:kernel(int *)"."""
    return {int(n) for n in re.findall(rf"\bin (?:\S*/)?{re.escape(case.path.name)}:(\d+)", " ".join(report))}


def summary(output):
    """How many faults a tool has counted; None if it has not come to its end."""
    counts = re.findall(r"^={9} (?:ERROR|RACECHECK) SUMMARY: (\d+)", output, re.M)
    return sum(map(int, counts)) if counts else None


def answers(output):
    """What the driver has said: {case: its line}, and under None that of a twin that hangs."""
    lines = [json.loads(line) for line in re.findall(r"^@(\{.*\})$", output, re.M)]
    return {line.get("case"): line for line in lines}


class Sanitizer:
    """compute-sanitizer on this machine; ``run``: .ci/record's, which returns (exit status, output)."""

    def __init__(self, run, path, python, end, variables):
        self.run, self.path, self.python, self.end, self.variables = run, path, python, end, variables
        self.knows = run(path, "--help", quiet=True)[1]
        self.version = (re.findall(r"[Vv]ersion ([\d.]+\S*)", run(path, "--version", quiet=True)[1]) or [""])[0]
        self.outputs = {}

    def options(self, tool, kind=""):
        wanted = (*TOOLS[tool], *ON_REQUEST.get((kind, tool), ()))
        known = (option for option in wanted if option.split()[0] in self.knows)
        return ["--tool", tool, "--show-backtrace", "device", *" ".join(known).split()]

    def output(self, tool, twin, group):
        """What the tool and the driver print of some cases, all in one process."""
        left = self.end - time.monotonic()
        if left < 1:
            return None
        driver = (self.python, DRIVER, twin, *(case.label for case in group))
        limit = min(left, ONE_S + 3 * (len(group) - 1))
        options = self.options(tool, group[0].kind)
        status, output = self.run(self.path, *options, *driver, limit=limit, quiet=True, **self.variables)
        if status == 124 and limit == left:
            return None
        if status == 124:
            output += f"\n@{HANGS}\n"
        if len(group) == 1:
            self.outputs[f"{group[0].label} {twin} {tool}"] = output
        return output

    def wrong(self, tool, case):
        """(verdict on the wrong twin, the first report, whether the program ends with an error)"""
        output = self.output(tool, "wrong", [case])
        return ("no time left", "", "") if output is None else self.verdict(case, output)

    def verdict(self, case, output):
        from wrong_kernels import verdict

        reported, count, lines = reports(output), summary(output), answers(output)
        error = (lines.get(None) or lines.get(case.label) or {"error": "the process died"})["error"]
        if count == 0:
            reported = []
        elif count and not reported and "Leaked" not in output:
            reported = [["?"]]
        says = verdict(case, [lines_of(report, case) for report in reported])
        if not reported:
            says = "hangs" if error == "hangs" else "clean" if count is not None else "no summary"
        named = [report for report in reported if lines_of(report, case) & case.marks.keys()]
        return says, " ".join([*named, *reported, [""]][0][:2]), error

    def right(self, tool, group):
        """{case: (verdict on its right twin, the first report, error)}; where a process with several of them reports
        something, each half is run again by itself."""
        output = self.output(tool, "right", group)
        if output is None:
            return dict.fromkeys(group, ("no time left", "", ""))
        lines = answers(output)
        if (
            len(group) > 1
            and summary(output) == 0
            and all(lines.get(case.label, {}).get("error") == "" for case in group)
        ):
            return dict.fromkeys(group, ("clean", "", ""))
        if len(group) > 1:
            half = len(group) // 2
            return {**self.right(tool, group[:half]), **self.right(tool, group[half:])}
        return {group[0]: self.verdict(group[0], output)}


class Progress:
    """Says from time to time how many of the processes have ended."""

    def __init__(self):
        self.start, self.count, self.whole = time.monotonic(), 0, 0

    def add(self, *said):
        self.count += 1
        if self.count % 25 == 0 or "hangs" in said or self.count == self.whole:
            print(f"{self.count} of {self.whole}, {time.monotonic() - self.start:.0f} s:", *said, flush=True)


def compare(cases, run, path, python, cores, limit, variables):
    """The rows of the record, one per case, and what else it has."""
    end = time.monotonic() + limit
    progress = Progress()
    with ThreadPoolExecutor(AT_ONCE) as pool:  # programs are kept on disk, where the tools' processes find them
        parts = [cases[i::AT_ONCE] for i in range(min(AT_ONCE, len(cases)))]
        labels = [[case.label for case in part] for part in parts]
        compiled = pool.map(lambda some: run(python, DRIVER, "compile", *some, quiet=True, limit=limit)[1], labels)
        errors = {label: said["error"] for output in compiled for label, said in answers(output).items()}
    not_compiled = {case.label: errors.get(case.label, "the process failed") for case in cases}
    not_compiled = {label: error for label, error in not_compiled.items() if error}
    print(f"compiled after {time.monotonic() - progress.start:.0f} s; not: {', '.join(not_compiled) or 'none'}")
    there = [case for case in cases if case.label not in not_compiled]
    sanitizer = Sanitizer(run, path, python, end, variables)
    wrong, right, ours = {}, {}, {}

    def judge_wrong(tool, case):
        wrong[case, tool] = sanitizer.wrong(tool, case)
        progress.add(case.label, tool, wrong[case, tool][0])

    def judge_right(tool, group):
        for case, said in sanitizer.right(tool, group).items():
            right[case, tool] = said
        progress.add("right twins", tool)

    def judge_ours(case):
        left = end - time.monotonic()
        ours[case] = dict.fromkeys(TWINS, NO_TIME)
        if left > 1:
            command = (python, DRIVER, "check", case.label)
            output = run(*command, limit=min(left, ONE_S), quiet=True, CUDAKERN_BACKEND="emulator")[1]
            ours[case] = answers(output).get(case.label, dict.fromkeys(TWINS, NO_TIME if left < ONE_S else HUNG))
        progress.add(case.label, "cudakern", ours[case]["wrong"]["verdict"])

    # Those that may hang come first, so that no process waits for the last one.
    slow = sorted(there, key=lambda case: case.kind not in ("barrier", "warp", "scope", "race"))
    with ThreadPoolExecutor(AT_ONCE) as gpu, ThreadPoolExecutor(max(cores - AT_ONCE, 1)) as others:
        jobs = [(judge_wrong, tool, case) for case in slow for tool in TOOLS]
        jobs += [(judge_right, tool, group) for tool in TOOLS for group in groups(there, tool)]
        progress.whole = len(jobs) + len(cases)
        running = [gpu.submit(*job) for job in jobs] + [others.submit(judge_ours, case) for case in cases]
    for one in running:
        one.result()  # (an exception in it)
    rows = [row(case, wrong, right, ours[case]) for case in cases]
    says = {
        f"{case.label} {twin}": {tool: of[case, tool][1] for tool in TOOLS if of.get((case, tool), ("", ""))[1]}
        for case in cases
        for twin, of in (("wrong", wrong), ("right", right))
    }
    ends = {case.label: wrong[case, "synccheck"][2] for case in there}
    others = {case.label: ours[case]["wrong"]["else"] for case in cases}
    return {
        "sanitizer": sanitizer.version,
        "options": {tool: " ".join(sanitizer.options(tool)[2:]) for tool in TOOLS}
        | {f"{tool}, {kind}": " ".join(sanitizer.options(tool, kind)[2:]) for kind, tool in ON_REQUEST},
        "rows": rows,
        "not_compiled": not_compiled,
        "ends_with_an_error": {label: error[:200] for label, error in ends.items() if error},
        "reports": {name: texts for name, texts in says.items() if texts},
        "cudakern_besides": {label: texts for label, texts in others.items() if texts},
    }, sanitizer.outputs


def groups(cases, tool):
    """Right twins that share a process: of the same options."""
    alone = [case for case in cases if (case.kind, tool) in ON_REQUEST]
    shared = [case for case in cases if (case.kind, tool) not in ON_REQUEST]
    count = -(-len(shared) // TOGETHER)
    return [[case] for case in alone] + [shared[i::count] for i in range(count)]


def row(case, wrong, right, ours):
    """One line of the record. ``twin``: what the tools say of the right one, if they are not silent."""
    mine, twin = (ours[twin] for twin in TWINS)
    alarms = {tool: right[case, tool][0] for tool in TOOLS if (case, tool) in right}
    alarms = {tool: says if says != "clean" or not right[case, tool][2] else "fails" for tool, says in alarms.items()}
    return {
        "case": case.label,
        **{tool: wrong.get((case, tool), ("not compiled",))[0] for tool in TOOLS},
        "twin": ", ".join(f"{tool}: {says}" for tool, says in alarms.items() if says != "clean"),
        "cudakern": mine["verdict"],
        "kinds": mine["kinds"],
        "cudakern_twin": "" if twin["verdict"] == "clean" else f"{twin['verdict']}: {' '.join(twin['else'])}"[:300],
    }


def complete(rows):
    """Whether every process has come to a verdict, or has hung."""
    return not any(word in " ".join(row.values()) for row in rows for word in INCOMPLETE)


def totals(rows):
    """{kind or "all": counts}. An alarm on a right twin counts once, whichever tools raise it."""
    counts = {}
    for one in rows:
        tools = [one[tool] for tool in TOOLS]
        for kind in (one["case"].partition("/")[0], "all"):
            of = counts.setdefault(kind, dict.fromkeys(COUNTS, 0))
            of["cases"] += 1
            of["found"] += bool({"found", "line"} & {*tools})
            of["line"] += "line" in tools
            of["alarms"] += bool(re.search(": (found|line)", one["twin"]))
            of["our found"] += one["cudakern"] in ("found", "line")
            of["our line"] += one["cudakern"] == "line"
            of["our alarms"] += bool(one["cudakern_twin"])
    return {kind: of for kind, of in counts.items() if kind != "all"} | {"all": counts["all"]}


COUNTS = ("cases", "found", "line", "alarms", "our found", "our line", "our alarms")
