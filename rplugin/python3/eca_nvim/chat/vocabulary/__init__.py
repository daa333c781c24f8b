"""The words between agent, chat, editor and view: events, intents, effects, ops, states.

Rule: frozen values without behaviour; intents and ops are equal to Lua's lists (a test holds that).
"""
