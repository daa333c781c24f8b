"""The user's requests that need an answer: saved chats, history, search, review of changes.

Rule: each request is answered exactly once, whatever happens; it never creates a chat.
"""
