# %% [markdown]
# # Groups that explain themselves
# Clusters are easy to find and hard to name. Here they are the leaves of a tree with at most two questions on a path,
# so every group comes with its description; among all such groupings this one has the smallest squared distances.

# %%
from pathlib import Path

import pandas as pd

import treeml as tml
from treeml.sklearn import TreeClusterer

HERE = Path(__file__).parent
result = tml.load(HERE / "customers.tml").solve()
print(result)

# %% [markdown]
# The same as an estimator, with scaled columns: a difference in age then counts relative to the standard deviation of
# age, and a year no longer counts as much as a euro.

# %%
customers = pd.read_csv(HERE / "customers.csv")
numbers = customers[["visits", "spent", "age"]]
scaled = ((numbers - numbers.mean()) / numbers.std()).round(2).assign(channel=customers["channel"])
groups = TreeClusterer(4, max_depth=2, min_support=0.05, columns=["visits", "spent", "age"]).fit(scaled)
print(groups.status_, groups.objective_)
print(customers.assign(group=groups.labels_).groupby("group")[["visits", "spent", "age"]].mean().round(1))

# %%
(HERE / "customers.svg").write_text(result.tree.to_svg(), encoding="utf-8")
