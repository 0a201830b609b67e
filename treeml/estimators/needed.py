"""Raises ImportError with a hint if scikit-learn is not installed; imported before everything that needs it."""

try:
    import sklearn  # noqa: F401
except ImportError as error:
    raise ImportError("the estimators need scikit-learn: pip install 'treeml[sklearn]'") from error
