"""Render: blocks as header lines and bodies, a chat as a status and as Markdown.

Rule: reads the model and changes nothing; one file a kind of block, found by `block.py`.
"""
