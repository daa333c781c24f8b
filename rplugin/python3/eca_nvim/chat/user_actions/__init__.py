"""User actions: what an intent of the user does to a chat, and what the agent must do for it.

Rule: an action answers with `Changes`. One that comes too late changes nothing and says so.
"""
