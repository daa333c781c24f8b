"""Render: turns blocks into header lines and bodies, and a chat into a status and Markdown.

Rule: reads the model and changes nothing. `block.py` has the short kinds of blocks, and calls the
files of the others.
"""
