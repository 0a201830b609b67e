"""From a model and data to a verified result: the pipeline and its stages.

Import `pipeline` (all stages in order), `result` (Result), `verify`, `validation`, `explain`, `why` and `report`.
"""
