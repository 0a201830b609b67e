"""The twin of deep.tml: grown greedily, improved one exact subtree at a time."""

import treeml as tml

model = tml.Model()
model.include("columns.tml")
model.set("price", 0.001)
model.start_from("cart", depth=10)
model.improve("subtrees", depth=3, rows=5000, rounds=50, starts=1, within=tml.seconds(20))
model.minimize(tml.error_rate + tml.param("price") * tml.leaves)
model.require(tml.depth <= 10)
model.solve_with(tml.method("native", cache=2_000_000), within=tml.minutes(10), gap=tml.percent(1), threads=2)
model.report("tree", "confusion", "timeline")
