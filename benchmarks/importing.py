"""Fresh interpreters -> the CPU time that `import treeml` adds, and what it imports.

python -m benchmarks.importing [--repeat N]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

SOLVERS = ("ortools", "highspy", "pyscipopt", "pysat", "gurobipy")
TIMED = """
import sys, time
before, modules = time.process_time(), len(sys.modules)
{statement}
print(1000 * (time.process_time() - before), len(sys.modules) - modules, *(n for n in {solvers} if n in sys.modules))
"""
STATEMENTS = {
    "import treeml": "import treeml",
    "building a model": "import treeml as tml; tml.Model().predict('a').maximize(tml.accuracy).require(tml.depth <= 2)",
    "parsing a spec": "import treeml as tml; tml.parse('predict a maximize accuracy require depth <= 2')",
    "the estimators": "import treeml.sklearn",
    "the command line": "import treeml.cli.main",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what importing costs.")
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    print(f"{'statement':20} {'median ms':>10} {'worst ms':>10} {'modules':>8}  solvers imported")
    for name, statement in STATEMENTS.items():
        code = TIMED.format(statement=statement, solvers=SOLVERS)
        said = [
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(repeat)
        ]
        times = [float(line[0]) for line in said]
        solvers = " ".join(said[0][2:]) or "none"
        print(f"{name:20} {statistics.median(times):10.1f} {max(times):10.1f} {said[0][1]:>8}  {solvers}")


if __name__ == "__main__":
    main()
