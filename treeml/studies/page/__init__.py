"""Result, records -> one self-contained HTML page.

Import `write`. It contains page.html, page.css and page.js, and fetches nothing. `template` fills such pages.
The page of a set of trees (treeml/studies/tree_sets/explorer.py) consists of explorer.*; both share elements.js.
"""
