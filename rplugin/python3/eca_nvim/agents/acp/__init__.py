"""An ACP agent as an agent: its messages become events, effects become messages to it.

agent.py     its life cycle; start here
sessions.py  the session of each chat
inbox.py     what a session sends
outbox.py    what we send, with `prompt.py`
requests/    what it asks us

Rule: nothing depends on which agent it is, on the ids, order or names of what it offers.
"""
