"""The server's program: which one to start, and how.

Rule: a program that the user names is used or refused, never replaced by another.
"""
