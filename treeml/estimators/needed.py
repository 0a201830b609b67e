"""Says how to get scikit-learn where it is lacking; imported before anything that needs it."""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("the estimators need scikit-learn: pip install 'treeml[sklearn]'") from error
