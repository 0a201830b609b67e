"""Result, records -> one self-contained HTML page.

Import `write`. page.html, page.css and page.js are put into the file; nothing is fetched.
"""
