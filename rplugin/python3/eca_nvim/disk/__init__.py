"""Disk: what every layer needs to touch the user's files without harm.

replacing.py  a file given another content, or removed, through no link and never by halves
private.py    folders of our own for as long as the process lives
"""
