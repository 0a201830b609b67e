"""Suites of published tables -> our results beside the published figures.

Import `run`. `suites` lists what is solved, `figures` what was published, `generated` makes sets from their rules.
"""
