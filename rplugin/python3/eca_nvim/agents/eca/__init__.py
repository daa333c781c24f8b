"""An ECA server as an agent: its messages become events, effects become its messages.

agent.py    its life; start here
inbox.py    what it sends, with `replay.py`, `server_events.py` and `content/`
outbox.py   what it is sent, with `prompt/`
requests.py what it asks of us

Rule: nothing outside this package knows ECA. An agent of another protocol is a package beside it.
"""
