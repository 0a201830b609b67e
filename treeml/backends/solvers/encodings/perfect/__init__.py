"""Perfect trees by SAT: every row gets its class, and only depth and size count.

`question` recognizes such a problem, `complete` and `partition` are two encodings of it as clauses, and
`perfect_search` chooses between them and adds rows as they are needed.
"""
