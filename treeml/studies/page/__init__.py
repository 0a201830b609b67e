"""Result, records -> one self-contained HTML page.

Import `write`. It contains page.html, page.css and page.js, and fetches nothing.
"""
