"""One solve on a Dask cluster: the sub-problems below the first tests are tasks."""
