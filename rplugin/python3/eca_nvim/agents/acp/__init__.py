"""An ACP agent as an agent: its messages become events, effects become messages to it.

Rule: nothing depends on which agent it is, on the ids, order or names of what it offers.
"""
