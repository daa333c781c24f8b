"""Agents: one adapter for each protocol.

base.py     what the session knows of any agent
archive.py  what it knows of an agent that keeps chats
eca/        an ECA server

Rule: above this package nobody knows which protocol an agent speaks.
"""
