"""All good trees of a model: listed, measured, compared, saved.

`listing` runs a request, `tree_set` is what users hold, `sources` gives its trees, `node_values` evaluates terms on all
of them at once, `measures` reads measures and conditions from text, `predictions` looks at rows, `stored` is the file,
`explorer` the page.
"""
