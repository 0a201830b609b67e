# %% [markdown]
# # A treatment policy from a randomized trial
# Half of 500 patients were treated, chosen by lot, and the days that each of them gained were counted. Nobody knows
# what the same patient would have gained in the other arm, so every patient gets an estimated gain for both: the
# doubly robust score. The tree that maximizes the sum of these scores is the best policy of its size.

# %%
from pathlib import Path

import pandas as pd

import treeml as tml

HERE = Path(__file__).parent
result = tml.load(HERE / "treatment.tml").solve()
print(result)

# %% [markdown]
# Where the scores come from: the mean of alike patients in an arm, corrected by the patient's own outcome if the
# patient was in that arm, divided by the chance of being there. Each score is right on average if the mean is, or the
# chance is; here the chance was a coin's.

# %%
trial = pd.read_csv(HERE / "treatment.csv")
for arm in ("treat", "wait"):
    mean = trial["severity"].map(trial[trial["arm"] == arm].groupby("severity")["days"].mean())
    score = mean + (trial["arm"] == arm) / 0.5 * (trial["days"] - mean)
    assert (score - trial[f"gain_{arm}"]).abs().max() < 0.001

# %% [markdown]
# What the policy is worth, beside the two policies that need no tree:

# %%
rows = len(trial)
advised = result.tree.predict(trial)
policy = trial["gain_treat"].where(advised == "treat", trial["gain_wait"]).sum()
for name, value in (("the tree", policy), ("treat all", trial["gain_treat"].sum()), ("none", trial["gain_wait"].sum())):
    print(f"{name:9}: {value / rows:5.2f} days a patient")
assert abs(policy - result.objective) < 1e-6
assert policy > max(trial["gain_treat"].sum(), trial["gain_wait"].sum())

# %% [markdown]
# A tree that imitates what the doctors did learns nothing: treatment was given by lot.

# %%
copied = tml.parse("predict arm\nfeatures age, severity, kidney\nmaximize accuracy\nrequire depth <= 2").solve(trial)
print(f"predicting the arm itself: accuracy {copied.objective:.2f}")

# %%
(HERE / "treatment.svg").write_text(result.tree.to_svg(), encoding="utf-8")
