"""Disk: writing files without damaging them.

Rule: whenever the process is killed, a file has its old content or its new one.
"""
