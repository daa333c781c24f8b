"""The chat: the model of a conversation, independent of agent and editor.

Rule: pure. Events and intents in, changes out; no I/O, no clock (the caller passes times, in ms).
"""
