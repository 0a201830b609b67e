"""Nothing -> every benchmark that generates its own data; with a data folder, all of them.

python -m benchmarks [--data-dir DIR]

Each benchmark is also a separate command with its own options: `python -m benchmarks.race --help`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

GENERATED = ("editor", "importing", "reading", "scaling", "tasks")
# name -> the subfolder of the data folder that it reads
ON_FILES = {
    "race": "cp4im",
    "ablation": "cp4im",
    "boosting": "cp4im",
    "numeric": "numeric",
    "anytime": "numeric",
    "sparse": "sparse",
    "sets": "sparse",
    "encodings": ".",
    "improvement": "slim",
    "least": ".",
    "coupled": "fair",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the benchmarks.")
    parser.add_argument(
        "--data-dir", type=Path, help="a folder with the folders cp4im, numeric, mixed, fair and sparse"
    )
    folder = parser.parse_args().data_dir
    runs = [[name] for name in GENERATED]
    if folder is not None:
        runs += [[name, "--data-dir", str(folder / below)] for name, below in ON_FILES.items()]
    failed = 0
    for name, *arguments in runs:
        print(f"\n== benchmarks.{name} {' '.join(arguments)}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
