"""Suites of published tables -> our results beside the published figures."""
