"""A demo agent: speaks the ECA protocol over stdio, with a scripted model and real tools.

It answers when no other server is there, teaches what the chat can do, and is a counterpart for
tests. Start it with `python -m eca_nvim.demo`. It behaves as the real server does, in the order
of its messages too.

wire.py    stdin and stdout as a JSON-RPC peer
server.py  which message does what
turn.py    one answer: text, thoughts, tool calls, approval, stop
scenes.py  what the scripted model says to which prompt
tools.py   the tools: real files and a real shell in a scratch folder
"""
