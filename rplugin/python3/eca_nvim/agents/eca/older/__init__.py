"""Servers of the older documents: behind this room there is one protocol, today's.

`translator.py` is its door, `forms.py` reads and writes their JSON, `draft.py` does what the first
draft leaves to the client.
"""
