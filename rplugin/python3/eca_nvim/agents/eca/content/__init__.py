"""Contents of a chat as ECA sends them, turned into events: texts, tool calls, proposed changes.

Rule: an unknown or incomplete content becomes an event that shows it; nothing is dropped silently.
"""
