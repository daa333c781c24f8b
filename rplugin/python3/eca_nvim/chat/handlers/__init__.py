"""Handlers: what an event of the agent, or the passing of time, does to a chat.

Rule: `reducer.py` is the way in; its table has one handler for each event. Handlers work on an
`Update`, and take any event in any state.
"""
