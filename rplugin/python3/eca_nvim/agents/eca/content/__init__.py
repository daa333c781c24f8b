"""What an ECA server says in a chat, as chat events: texts, tool calls, proposed changes.

Rule: what is unknown or incomplete becomes an event that shows it; nothing is dropped silently.
"""
