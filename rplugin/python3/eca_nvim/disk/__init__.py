"""Disk: writing files without damaging them.

replacing.py  replaces or removes a file, through no link and never halfway
private.py    folders that only the user can read, removed with the process

Rule: a file that is written has its old content or its new one, whenever the process is killed.
"""
