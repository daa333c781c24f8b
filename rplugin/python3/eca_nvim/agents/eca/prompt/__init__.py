"""A prompt in the words of an ECA server: message, contexts, mentions, attached files.

Rule: what differs between generations of the protocol is decided here, by the server's dialect.
"""
