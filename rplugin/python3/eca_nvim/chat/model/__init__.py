"""The model: a chat, its blocks and tool calls, and what can be read from them.

Rule: data, and functions that change nothing. `handlers` and `user_actions` change a chat.
"""
