"""User actions: how a chat changes for an intent of the user, and what the agent must do.

An action that comes too late changes nothing and says so.
"""
