"""An ECA server as an agent: its messages become events, effects become messages to it.

agent.py     its life cycle; start here
inbox.py     what it sends, with `replay.py` and `content/`
outbox.py    what we send, with `prompt/`
requests.py  what it asks us

Rule: no other package of the client handles ECA's messages. Another protocol gets its own package.
"""
