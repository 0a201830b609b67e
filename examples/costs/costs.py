"""The twin of costs.tml: a missed illness costs as much as fifty false alarms, and tests have a cost."""

import treeml as tml

model = tml.Model()
model.data("diabetes.csv")
model.predict("outcome", positive="ill")
model.weight_by("survey_weight")
model.cost(predict="healthy", when="ill", cost=50)
model.cost(predict="ill", when="healthy", cost=1)
model.test_cost("insulin", 12)
model.minimize(tml.mistake_cost + tml.test_cost)
model.require(tml.depth <= 4)
model.require(tml.support >= tml.rows(20))
