"""From a model and data to a verified result: the pipeline and its stages.

Import `pipeline` (all stages in order), `options` (RunOptions), `result` (Result), `checking`, `verify`, `validation`,
`explain`, `why` and `report`; for forests also `boosting` and `tuning`.
"""
