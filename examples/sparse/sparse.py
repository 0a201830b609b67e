"""The twin of sparse.tml: every leaf must pay for itself."""

import treeml as tml

model = tml.Model()
price = model.param("price", 0.01, low=0, high=0.5)
max_depth = model.param("max_depth", 6, low=1, high=12)
model.data("compas.csv")
model.predict("two_year_recid", positive="yes")
model.features(excluding=["id", "name"])
model.binarize(by=tml.method("quantiles", 8))
model.minimize(tml.error_rate + price * tml.leaves)
model.require(tml.depth <= max_depth)
model.require(tml.support >= tml.percent(1))
