"""An ECA server as an agent: its messages become events, effects become messages to it.

Rule: no other package of the client handles ECA's messages. Another protocol gets its own package.
"""
