"""Many solves: comparisons, sweeps, benchmark suites, plots and the report page.

Import `compare`, `sweep`, `plots`, `bench.run` and `page.write`; `comparison` holds the jobs, workers and records that
these share.
"""
