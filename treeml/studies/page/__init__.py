"""Result, records -> one self-contained HTML page.

Import `write`. It contains page.html, page.css and page.js, and fetches nothing. `template` fills such pages; explorer.*
are the parts of the page of a set of trees (treeml/studies/tree_sets/explorer.py), and elements.js is shared.
"""
