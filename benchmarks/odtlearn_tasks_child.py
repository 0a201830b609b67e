"""Fair trees and treatment policies by odtlearn, in its own interpreter: `python odtlearn_tasks_child.py rows.csv ...`.

The arguments are the file, the task, the depth and the seconds. It prints one line of JSON: what is predicted for every
row, the gap that is left, and the seconds of the processor. Columns of the rows are named: b... are features of 0 and
1; y is the class, group the protected group; treatment, outcome, propensity, reward_0 and reward_1.
"""

import json
import sys
from time import process_time

FAIR = {"parity": "FairSPOCT", "opportunity": "FairEOppOCT", "odds": "FairEOddsOCT", "equality": "FairPEOCT"}
POLICIES = {"ipw": "FlowOPT_IPW", "direct": "FlowOPT_DM", "robust": "FlowOPT_DR"}


def main(path: str, task: str, bound: str, depth: str, seconds: str) -> None:
    import numpy as np
    from odtlearn import fair_oct, flow_oct, flow_opt

    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    column = {name: rows[:, place] for place, name in enumerate(names)}
    features = np.column_stack([column[name] for name in names if name.startswith("b")]).astype(int)
    limits = {"solver": "cbc", "depth": int(depth), "time_limit": int(seconds)}
    rewards = np.column_stack([column["reward_0"], column["reward_1"]])
    past = {"t": column["treatment"].astype(int), "y": column["outcome"], "ipw": column["propensity"]}
    began = process_time()
    if task in POLICIES:
        model = getattr(flow_opt, POLICIES[task])(**limits)
        asked = {"ipw": past, "direct": {"t": past["t"], "y": past["y"], "y_hat": rewards}}
        model.fit(features, **asked.get(task, {**past, "y_hat": rewards}))
    elif task in FAIR:
        group = column["group"].astype(int)
        model = getattr(fair_oct, FAIR[task])(positive_class=1, fairness_bound=float(bound), **limits)
        model.fit(features, column["y"].astype(int), group[:, None], group)
    else:
        mode = "balance" if task == "balance" else "acc"
        model = flow_oct.FlowOCT(obj_mode=mode, _lambda=0, **limits)
        model.fit(features, column["y"].astype(int))
    taken = process_time() - began
    said = np.asarray(model.predict(features)).ravel().astype(int).tolist()
    print("\n" + json.dumps({"said": said, "gap": float(model.optim_gap), "seconds": taken}))


if __name__ == "__main__":
    main(*sys.argv[1:])
