# %% [markdown]
# # Credit: what fairness costs
# A bank wants one short rule for lending. In its data men earn more, so the most accurate rule lends to them more
# often. The spec bounds the difference between the rates of women and men (`parity_gap`), forbids splits on sex, and
# keeps the bound adjustable: `tolerance` is a param.

# %%
from pathlib import Path

import treeml as tml
from treeml.studies.plots import Plot, Series, draw

HERE = Path(__file__).parent
model = tml.load(HERE / "credit.tml")
print(model)

# %% [markdown]
# The rule at five percentage points: no rule of this size within the bound is right more often.

# %%
fair = model.solve(params={"tolerance": 0.05})
print(fair)

# %% [markdown]
# The same with other bounds. Each answer is proved optimal, so the curve shows the exact trade-off: a rule with higher
# accuracy at the same gap must be of another kind.

# %%
points = []
for tolerance in (0, 0.02, 0.1, 0.15, 0.2, 1):
    result = model.solve(params={"tolerance": tolerance})
    assert result.is_optimal
    gap = result.measures["parity_gap(sex)"]
    points.append((gap, result.measures["accuracy"]))
    print(f"gap of at most {tolerance:4.0%}: {gap:5.1%}, accuracy {result.measures['accuracy']:.1%}")

# %% [markdown]
# The figure: accuracy against the remaining gap.

# %%
curve = Series("the most accurate rule", tuple(sorted(set(points))))
title = "What fairness costs: accuracy against the gap between women and men"
draw(Plot(title, "parity gap", "accuracy", (curve,), "line"), HERE / "credit.svg")
