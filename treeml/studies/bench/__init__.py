"""Suites of published tables -> our results beside the published figures.

Import `run`. `suites` lists the problems, `figures` the published values; `generated` makes data sets from their rules.
"""
