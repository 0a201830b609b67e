"""Tree or forest -> the same for other programs: rules, SQL, Python, C, PMML and ONNX, beside JSON, dot, SVG and text.

Import `registry` (name -> export) and `contract` (what an export is); users import both from `treeml.export`. There is
one module per form, and an installed package adds forms through the entry-point group `treeml.exports`.

Every form predicts exactly what `Tree.predict` does, on borders, missing values and unknown levels too. A row that the
tree refuses (a value is missing in a column without missing values in training) has no prediction: NULL, an exception,
-1 or NaN.
"""
