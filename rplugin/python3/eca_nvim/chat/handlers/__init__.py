"""Handlers: how a chat changes when the agent sends an event, or when time passes.

Rule: `reducer.py` is the way in; its table has one handler for each event. Handlers work on an
`Update`, and accept any event in any state.
"""
