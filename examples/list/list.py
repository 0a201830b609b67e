"""The twin of list.tml: all trees near the best, to choose among."""

import treeml as tml

model = tml.Model()
model.data("heart.csv")
model.predict("disease", positive="yes")
model.minimize(tml.error_rate + 0.01 * tml.leaves)
model.require(tml.depth <= 2)
model.list_trees(10_000, within="5%")

if __name__ == "__main__":
    trees = model.trees()
    print(trees)
    print(trees.best_by("features_used"))
