"""The version of the package, importable from every layer."""

__version__ = "0.2.0"
