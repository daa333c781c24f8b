"""Disk: writing files without damaging them.

replacing.py  replaces or removes a file, never halfway and never through a link
private.py    folders that only the user can read, removed with the process

Rule: whenever the process is killed, a file has its old content or its new one.
"""
