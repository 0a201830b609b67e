# %% [markdown]
# # Improving a deep tree
# Some trees are too deep to be proved optimal as a whole. This one is grown greedily and then improved: one subtree at
# a time is replaced by the best possible one, until no subtree can be improved. Each step is exact.

# %%
from pathlib import Path

import treeml as tml

HERE = Path(__file__).parent
model = tml.load(HERE / "machines.tml")
result = model.solve()
print(result.status.value, result.measures)

# %% [markdown]
# The greedy tree by the same measures, for comparison.

# %%
greedy = tml.Model([s for s in model.statements if type(s).__name__ not in ("Improve", "Start")], folder=model.folder)
before = greedy.solve(backend="cart")
for name, found in (("greedy", before), ("improved", result)):
    measures = found.measures
    print(f"{name}: objective {found.objective:.4f}, errors {measures['error_rate']:.1%}, {measures['leaves']} leaves")
assert result.objective < before.objective

# %%
(HERE / "machines.svg").write_text(result.tree.to_svg(), encoding="utf-8")
