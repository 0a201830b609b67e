"""Back-ends that do what no back-end should, as an installed package: entry points in a folder on the path."""

from __future__ import annotations

from pathlib import Path

MODULE = """
import os, signal, time
from dataclasses import replace
from fractions import Fraction
from treeml.backends.claims import Evidence
from treeml.backends.contract import *
from treeml.backends.oracle.backend import OracleBackend
from treeml.problem.tree import Leaf, Split

class Base(OracleBackend):
    options = {}
    @staticmethod
    def missing(): return None
    @staticmethod
    def version(): return "1"
    def refusals(self, problem, options=NO_OPTIONS): return iter(())

def kind(word, act):
    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):
        return act(OracleBackend().solve(problem, limits, start, None), on_progress)
    return type(word.title(), (Base,), {"name": word, "summary": word, "can": OracleBackend.can, "solve": solve})

def tell(answer, on_progress):
    if on_progress: on_progress(Progress(0.0, answer.objective, None, answer.tree))

def crash(answer, on_progress):
    os.kill(os.getpid(), signal.SIGSEGV)

def told_and(end):
    def act(answer, on_progress):
        tell(answer, on_progress)
        end(answer, None)
    return act

def wrong(answer, on_progress):
    tell(replace(answer, tree=Split(0, Leaf(0), Split(99, Leaf(0), Leaf(1)))), on_progress)
    os.kill(os.getpid(), signal.SIGSEGV)

def deaf(tells):
    def act(answer, on_progress):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # before it tells: whoever is told may interrupt at once
        tells(answer, on_progress)
        while True: time.sleep(1000)
    return act

def tell_value(answer, on_progress):
    if on_progress: on_progress(Progress(0.0, answer.objective))

def fill(answer, on_progress):
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)) * 8)
        time.sleep(0.002)

def boast(answer, on_progress):
    # A tree that is not the best, called optimal with its own value as the bound.
    worse = Leaf(0)
    from treeml.problem.evaluate import evaluate_goals
    value = evaluate_goals(PROBLEM[0], worse)
    return Answer(Status.OPTIMAL, Stop.PROVED, worse, value, value[-1], evidence=(Evidence("search"),))

PROBLEM = []

def lie(answer, on_progress):
    return replace(answer, objective=tuple(value - 1 for value in answer.objective), bound=None)

def deny(answer, on_progress):
    return Answer(Status.INFEASIBLE, Stop.PROVED, evidence=(Evidence("search"),))

def leave(answer, on_progress):
    print("goodbye"); os._exit(7)

def raise_error(answer, on_progress):
    raise ValueError("no such thing")

Crash, Sleep, Fill, Lie, Deny, Leave, Fail = (
    kind("crash", crash), kind("sleep", deaf(tell_value)), kind("fill", fill), kind("lie", lie), kind("deny", deny),
    kind("leave", leave), kind("fail", raise_error),
)
Toldcrash, Toldsleep, Toldfill, Toldfail, Wrong = (
    kind("toldcrash", told_and(crash)), kind("toldsleep", deaf(tell)), kind("toldfill", told_and(fill)),
    kind("toldfail", told_and(raise_error)), kind("wrong", wrong),
)
class Straw(Base):
    name, summary, can = "straw", "three answers, and no more", OracleBackend.can
    calls = 0
    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):
        Straw.calls += 1
        if Straw.calls > 3: os.kill(os.getpid(), signal.SIGSEGV)
        return OracleBackend().solve(problem, limits, start, on_progress)

class Once(Base):
    name, summary, can = "once", "killed the first time, as by somebody who needs the memory", OracleBackend.can
    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):
        if not os.path.exists(os.environ["TREEML_TEST_MARK"]):
            open(os.environ["TREEML_TEST_MARK"], "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return OracleBackend().solve(problem, limits, start, on_progress)

class Boast(kind("boast", boast)):
    def solve(self, problem, limits=NO_LIMITS, start=None, on_progress=None):
        PROBLEM[:] = [problem]
        return boast(None, None)
"""

NAMES = (
    "crash", "sleep", "fill", "boast", "lie", "deny", "leave", "fail",
    "toldcrash", "toldsleep", "toldfill", "toldfail", "wrong", "straw", "once",
)  # fmt: skip


def install(folder: Path) -> None:
    """Write the package; put the folder on the path to make it count as installed."""
    (folder / "bad_backends_module.py").write_text(MODULE)
    information = folder / "bad_backends-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: bad-backends\nVersion: 1\n")
    entries = "\n".join(f"{name} = bad_backends_module:{name.title()}" for name in NAMES)
    (information / "entry_points.txt").write_text(f"[treeml.backends]\n{entries}\n")
