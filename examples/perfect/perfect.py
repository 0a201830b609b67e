"""The twin of perfect.tml: the shallowest tree without errors, and the smallest of those."""

import treeml as tml

model = tml.Model()
model.data("monk1.csv")
model.predict("class")
model.minimize(tml.depth)
model.then_minimize(tml.leaves)
model.require(tml.errors == 0)
model.solve_with("maxsat", "cpsat", within=tml.minutes(5))
