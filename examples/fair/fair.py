"""The twin of fair.tml: an accurate tree that favors neither group."""

import treeml as tml

model = tml.Model()
tolerance = model.param("tolerance", tml.percent(5))
model.data("adult.csv")
model.predict("income", positive=">50K")
model.column("sex", "category", sensitive=True)
model.column("hours per week", "number")
model.binarize("age", at=[25, 35, 45, 55, 65])
model.binarize("hours per week", by=tml.method("quantiles", 4))
model.maximize(tml.balanced_accuracy)
model.require(tml.depth <= 3)
model.require(tml.parity_gap("sex") <= tolerance, name="parity")
model.require(tml.opportunity_gap("sex") <= 2 * tolerance, name="chance")
model.require(tml.recall(">50K") >= tml.percent(40), name="caught")
model.forbid("sex")
