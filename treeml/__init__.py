"""TreeML: a constraint-modelling language for decision trees, with solver-agnostic back-ends and verified answers."""
