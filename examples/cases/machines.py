# %% [markdown]
# # Deep repair
# Some trees are too deep to be proved best as a whole. This one is grown greedily, and then mended: one subtree after
# the other is replaced by the best one that can stand there, until no subtree can be improved. Each step is exact.

# %%
from pathlib import Path

import treeml as tml

HERE = Path(__file__).parent
model = tml.load(HERE / "machines.tml")
result = model.solve()
print(result.status.value, result.measures)

# %% [markdown]
# What the greedy tree was worth by the same measures.

# %%
greedy = tml.Model([s for s in model.statements if type(s).__name__ not in ("Improve", "Start")], folder=model.folder)
before = greedy.solve(backend="cart")
for name, found in (("greedy", before), ("mended", result)):
    measures = found.measures
    print(f"{name}: objective {found.objective:.4f}, errors {measures['error_rate']:.1%}, {measures['leaves']} leaves")
assert result.objective < before.objective

# %%
(HERE / "machines.svg").write_text(result.tree.to_svg(), encoding="utf-8")
