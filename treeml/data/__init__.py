"""Files, frames and arrays -> a typed `Table` -> a `Dataset` bound to a specification.

Import `read` (any input -> Table), `bind` (Spec, Table -> Dataset), `table` (both types) and `subset` (some rows of a
Dataset). The other modules are formats, type inference, missing values and the checks of a spec against its data.
"""
