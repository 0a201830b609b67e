"""The twin of boost.tml: a forest with a provably optimal margin."""

import treeml as tml

model = tml.Model()
model.data("spambase.csv")
model.predict("spam", positive=1)
model.ensemble("lpboost", penalty=0.05)
model.maximize(tml.margin)
model.require(tml.depth <= 2)
model.solve_with("native", within=tml.minutes(10), seed=7)
model.validate("holdout", tml.percent(20), seed=7)
