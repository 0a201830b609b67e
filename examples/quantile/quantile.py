"""The twin of quantile.tml: the 90th percentile of delivery time."""

import treeml as tml

model = tml.Model()
level = model.param("level", 0.9, low=0.01, high=0.99)
model.data("deliveries.csv")
model.predict("minutes")
model.minimize(tml.quantile_loss(level))
model.require(tml.depth <= 3)
model.require(tml.support >= tml.rows(50))
model.validate("folds", 5, seed=1)
