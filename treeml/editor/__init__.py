"""A specification in an editor -> what the editor shows: mistakes, completions, explanations, edits, the solved tree.

`server.py` speaks the Language Server Protocol; every other module works on text and offsets alone.
"""
