"""A demo agent: a server that speaks ECA over stdio, with a scripted model and real tools.

It answers if there is no other server, shows what the chat can do, and serves the tests. Start it
with `python -m eca_nvim.demo`.

wire.py       stdin and stdout as a JSON-RPC peer
server.py     the function for each message
archive.py    requests about kept chats: list, open, page, change, copy, undo
memory.py     the messages that are kept of a chat
choices.py    models, agents and variants
turn.py       one answer: text, thoughts, tool calls, approval, stop
scenes.py     what the scripted model says to which prompt
texts.py      its longer texts
subagent.py   a chat inside a tool call
task_list.py  a list of tasks
tools.py      the tools: real files and a real shell in a scratch folder

Rule: it behaves as the real server does, also in the order of its messages. It imports only
`jsonrpc`.
"""
