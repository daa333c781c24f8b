"""Prepares what the checkout needs, in folders of its own (`.venv` and `.cache`), without root.

Rules: the standard library alone, since this runs before anything is installed; every step is
atomic (built beside its place, then renamed) and has a stamp, so that an interrupted set-up
goes on where it stopped and a finished one costs a file read.
"""
