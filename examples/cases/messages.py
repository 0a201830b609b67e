# %% [markdown]
# # A provably optimal forest
# Small trees vote on what is spam. LPBoost chooses trees and weights so that the soft minimum margin, the lead of the
# right answer over the wrong one, is the highest that any weights of any such trees can reach. The bound proves it.

# %%
from pathlib import Path

import pandas as pd

import treeml as tml
from treeml.studies.plots import Plot, Series, draw, margins

HERE = Path(__file__).parent
model = tml.load(HERE / "messages.tml")
result = model.solve()
forest = result.forest
print(f"{len(forest.trees)} trees, soft margin {result.objective:.4f}, bound {result.bound:.4f}, {result.status.value}")
print(f"errors {result.measures['error_rate']:.1%}, on unseen rows {result.validation.mean('error_rate'):.1%}")
print(forest.trees[0])

# %% [markdown]
# One tree of the same depth, for comparison, and the margins of the rows: negative margins are mistakes. A small
# `share` focuses on the worst rows; a large one gives them up for the rest.

# %%
single = tml.parse("predict spam\nbinarize all by quantiles(8)\nmaximize accuracy\nrequire depth <= 2")
print(f"one tree: errors {1 - single.solve(HERE / 'messages.csv').objective:.1%}")
data = pd.read_csv(HERE / "messages.csv")
series = []
for number, share in enumerate((0.2, 0.4)):
    found = model.solve(params={"share": share}).forest
    line = margins(found.margins(data, data["spam"])).series[0]
    series.append(Series(f"nu = {share}", line.points, group=number))

# %%
draw(Plot("Margins of a forest", "margin", "share of the rows", tuple(series)), HERE / "messages.svg")
