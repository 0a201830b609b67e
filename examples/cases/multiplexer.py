# %% [markdown]
# # Perfect trees
# Two address bits choose which of four data bits is the output; a seventh column is noise. A tree without errors
# exists, and the spec asks for the shallowest one, and for the smallest of those.

# %%
from pathlib import Path

import treeml as tml

HERE = Path(__file__).parent
model = tml.load(HERE / "multiplexer.tml")
result = model.solve()
print(result)
assert result.objective == (3, 8)
assert "noise" not in result.tree.columns

# %% [markdown]
# A greedy algorithm cannot find it: no single column says anything about the output, so the first split is a guess and
# the resulting tree is deeper. It is also proved that three questions are needed: with two there is no such tree.

# %%
greedy = tml.parse("predict out\nminimize errors\nrequire depth <= 7").solve(HERE / "multiplexer.csv", backend="cart")
print(f"greedy: depth {greedy.tree.depth}, {len(greedy.tree.leaves)} leaves, {greedy.measures['errors']} errors")
impossible = tml.parse("predict out\nsatisfy\nrequire errors = 0\nrequire depth <= 2")
print(impossible.solve(HERE / "multiplexer.csv").status)

# %%
(HERE / "multiplexer.svg").write_text(result.tree.to_svg(), encoding="utf-8")
