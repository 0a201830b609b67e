"""Result, records -> one self-contained HTML page."""
