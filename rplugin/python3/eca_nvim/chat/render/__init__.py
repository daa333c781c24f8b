"""Render: turns blocks into header lines and bodies, and a chat into a status and Markdown.

Rule: reads the model and changes nothing; one file per kind of block, selected by `block.py`.
"""
