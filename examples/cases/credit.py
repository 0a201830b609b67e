# %% [markdown]
# # Credit: what fairness costs
# A bank wants one short rule for lending. In its data men earn more, so the most accurate rule lends to them more
# often. The spec bounds how far the rates of women and men may differ (`parity_gap`), forbids asking for the sex, and
# leaves the bound open: `tolerance` is a param.

# %%
from pathlib import Path

import treeml as tml
from treeml.studies.plots import Plot, Series, draw

HERE = Path(__file__).parent
model = tml.load(HERE / "credit.tml")
print(model)

# %% [markdown]
# The rule at five percentage points: no rule of this size that keeps the bound is right more often.

# %%
fair = model.solve(params={"tolerance": 0.05})
print(fair)

# %% [markdown]
# The same question for other bounds. Each answer is proved, so the curve is the whole truth about this trade: whoever
# promises more accuracy at the same gap has another kind of rule, or is mistaken.

# %%
points = []
for tolerance in (0, 0.02, 0.1, 0.15, 0.2, 1):
    result = model.solve(params={"tolerance": tolerance})
    assert result.is_optimal
    gap = result.measures["parity_gap(sex)"]
    points.append((gap, result.measures["accuracy"]))
    print(f"gap of at most {tolerance:4.0%}: {gap:5.1%}, accuracy {result.measures['accuracy']:.1%}")

# %% [markdown]
# The picture: accuracy against the gap that is left.

# %%
curve = Series("the most accurate rule", tuple(sorted(set(points))))
title = "What fairness costs: accuracy against the gap between women and men"
draw(Plot(title, "parity gap", "accuracy", (curve,), "line"), HERE / "credit.svg")
