"""A prompt as an ECA server expects it: message, contexts, mentions, attached files.

Rule: differences between generations of the protocol are decided here, by the server's dialect.
"""
