"""The chat: what a conversation is, whichever agent speaks and whichever editor shows it.

Pure: events and intents in, view ops out; no I/O, no clock (times arrive with events).

events.py   what an agent said              (agent  → chat)
intents.py  what the user did               (editor → session)
ops.py      what the view must draw         (chat   → editor)
"""
