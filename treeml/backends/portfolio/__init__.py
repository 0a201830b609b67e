"""The portfolio: while an exact search runs, a second thread looks for better trees, and the two share what they find.

`accompany` runs both, `companion` keeps what they find, and `improving` is what the second thread does.
"""
