"""What the user asks about a chat, answered from what is there.

Rule: asking changes no chat but what is folded in it, and makes none.
"""
