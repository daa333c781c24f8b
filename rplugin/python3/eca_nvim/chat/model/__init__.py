"""The model: a chat, its blocks and tool calls, and what is derived from them.

Rule: data and functions without side effects. `handlers` and `user_actions` change a chat.
"""
