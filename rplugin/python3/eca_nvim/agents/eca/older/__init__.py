"""Servers of the older documents: behind this room there is one protocol, today's.

`translator.py` is its door, `forms.py` reads and writes their JSON, `chat_ids.py` maps their ids of
chats, `draft.py` does what the first draft leaves to the client. `dialect.py` alone knows the
generation of a server: the rest asks it what the server can do.
"""
