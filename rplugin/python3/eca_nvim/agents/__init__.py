"""Agents: one adapter for each protocol. The session sees no more of them than `base.py`.

base.py     what any agent offers
archive.py  what an agent that keeps chats offers
eca/        an ECA server
"""
