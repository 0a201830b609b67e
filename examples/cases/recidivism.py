# %% [markdown]
# # A rule short enough to read aloud
# Every leaf has to earn its price: one percent of the rows. More prior convictions may never turn a "yes" into a
# "no", and this is checked for every possible person, not only for those in the data.

# %%
from pathlib import Path

import treeml as tml

HERE = Path(__file__).parent
model = tml.load(HERE / "recidivism.tml")
result = model.solve()
print(result)

# %% [markdown]
# With the price, size and accuracy become one sum, and its minimum is proved. Cross-validation estimates how such rules
# perform on unseen people: cheaper leaves fit much better but hardly predict better.

# %%
for price in (0.05, 0.01, 0.002):
    found = model.solve(params={"price": price})
    seen, unseen = found.measures["error_rate"], found.validation.mean("error_rate")
    print(f"price {price:5.1%}: {found.measures['leaves']:2} leaves, errors {seen:.1%}, on unseen rows {unseen:.1%}")

# %%
(HERE / "recidivism.svg").write_text(result.tree.to_svg(), encoding="utf-8")
