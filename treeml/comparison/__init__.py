"""Specs, data, back-ends -> results side by side, each from a process of its own."""
