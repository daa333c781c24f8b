"""Prepares what the checkout needs, in folders of its own (`.venv` and `.cache`), without root.

Rules: only the standard library, as this runs before anything is installed. Every step is atomic
(built beside its place, then renamed) and has a stamp, so an interrupted set-up continues where it
stopped, and a finished one only reads a file.
"""
