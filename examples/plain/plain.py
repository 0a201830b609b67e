"""The twin of plain.tml: the most accurate tree of depth three."""

import treeml as tml

model = tml.Model()
model.data("heart.csv")
model.predict("disease")
model.maximize(tml.accuracy)
model.require(tml.depth <= 3)
