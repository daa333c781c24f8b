"""The messages between agent, chat, editor and view: events, intents, effects, ops, states.

Rule: frozen values without behaviour. Intents and ops equal Lua's lists; a test checks that.
"""
