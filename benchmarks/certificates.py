"""data folder -> a table of certificates: what the proof costs, how large it is, and how long the check in C takes.

`python -m benchmarks.certificates --data-dir DIR --depth 3 4`. Every set is solved by native, certified, packed and
checked by the compiled checker, a process of its own. Times are processor seconds, so a busy machine changes them
little. Where a limit is known (`LIMITS`), the check and the size are compared with it. Files are CSV with a header, the
label first.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path
from time import process_time

import treeml as tml
from benchmarks.data_folder import data_folder, sets_in

# Set and depth -> the longest check in seconds and the largest packed file in bytes: twice the solve plus the proof,
# and twice the size, that a prototype of the same format needed on one core.
LIMITS = {
    ("anneal", 4): (0.10, 9_400),
    ("german-credit", 4): (1.66, 66_000),
    ("yeast", 5): (7.4, 850_000),
    ("diabetes", 5): (15.8, 1_522_000),
    ("german-credit", 5): (70.0, 4_600_000),
    ("kr-vs-kp", 6): (23.8, 1_494_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--depth", type=int, nargs="*", default=[3, 4])
    parser.add_argument("--sets", nargs="*", help="names of files without .csv; all by default")
    parser.add_argument("--keep", type=Path, help="a folder for the certificates")
    options = parser.parse_args()
    options.data_dir = data_folder(options.data_dir, "cp4im", options.sets)
    names = sets_in(options.data_dir, options.sets)
    titles = f"{'errors':>7}{'solve':>8}{'proof':>8}{'claims / depth two':>22}{'bytes':>11}{'check':>8}"
    print(f"{'set, depth':24}{titles}  claim")
    for depth in options.depth:
        for name in names:
            print(row(options, name, depth), flush=True)


def row(options: argparse.Namespace, name: str, depth: int) -> str:
    path = options.data_dir / f"{name}.csv"
    target = path.open().readline().split(",")[0].strip()
    begun = process_time()
    result = tml.parse(f"predict {target} minimize errors require depth <= {depth}").solve(path, backend="native")
    solved, before = process_time(), _children()
    made = result.certify()
    proved, checked = process_time(), _children() - before
    size = len(made.packed(by_gzip=True))
    if options.keep is not None:
        made.write(options.keep / f"{name}-{depth}.cert.gz")
    longest, largest = LIMITS.get((name, depth), (None, None))
    verdict = ""
    if longest is not None and largest is not None:
        fits = checked <= longest and size <= largest
        verdict = f"{'within' if fits else 'NOT WITHIN'} {longest:g} s, {largest:,} bytes"
    claims = f"{made.claims:,} / {made.recomputed:,}"
    return (
        f"{name + ', ' + str(depth):24}{result.objective!s:>7}{solved - begun:8.2f}{proved - solved:8.2f}{claims:>22}"
        f"{size:11,}{checked:8.2f}  {made.claim} {verdict}"
    )


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
