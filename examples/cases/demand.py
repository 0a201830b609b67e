# %% [markdown]
# # Demand: enough nine times out of ten
# The mean demand does not help the people who fill the racks: half of the time it is too little. `quantile_loss(0.9)`
# asks for the tree whose leaves predict 90th percentiles with the smallest errors, weighted 9 to 1.

# %%
from pathlib import Path

import pandas as pd

import treeml as tml

HERE = Path(__file__).parent
model = tml.load(HERE / "demand.tml")
result = model.solve()
print(result.tree)

# %% [markdown]
# Three levels give three trees, each optimal for its level. In every leaf of the 90 % tree, at most a tenth of the rows
# lie above the predicted value.

# %%
data = pd.read_csv(HERE / "demand.csv")
for level in (0.5, 0.9, 0.98):
    found = model.solve(params={"level": level})
    assert found.is_optimal
    enough = (data["bikes"] <= found.tree.predict(data)).mean()
    print(f"level {level}: enough on {enough:.1%} of the occasions, {found.tree.splits} questions")

# %%
(HERE / "demand.svg").write_text(result.tree.to_svg(), encoding="utf-8")
