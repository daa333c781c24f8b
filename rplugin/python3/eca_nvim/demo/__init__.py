"""A demo agent: speaks the ECA protocol over stdio, with a scripted model and real tools.

It answers when no other server is there, teaches what the chat can do, and is a counterpart for
tests. Start it with `python -m eca_nvim.demo`. It behaves as the real server does, in the order
of its messages too.

wire.py       stdin and stdout as a JSON-RPC peer
server.py     which message does what
archive.py    requests about kept chats: list, open, page, change, copy, undo
memory.py     what is kept of a chat
choices.py    models, agents and variants
turn.py       one answer: text, thoughts, tool calls, approval, stop
scenes.py     what the scripted model says to which prompt
texts.py      its longer texts
subagent.py   a chat inside a tool call
task_list.py  a list of tasks
tools.py      the tools: real files and a real shell in a scratch folder
"""
