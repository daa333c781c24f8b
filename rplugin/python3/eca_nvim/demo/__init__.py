"""A demo agent: a server that speaks ECA over stdio, with a scripted model and real tools.

It is used if there is no other server, shows what the chat can do, and serves the tests. Start it
with `python -m eca_nvim.demo`.

wire.py       stdin and stdout as a JSON-RPC peer
server.py     the handler of each message
archive.py    requests about saved chats: list, open, page, change, copy, undo
memory.py     the saved messages of each chat
choices.py    models, agents and variants
turn.py       one answer: text, thoughts, tool calls, approval, stop
scenes.py     what the scripted model does for which prompt
texts.py      its longer texts
subagent.py   a chat inside a tool call
task_list.py  a list of tasks
tools.py      the tools: real files and a real shell in a scratch folder

Rule: it behaves as the real server does, also in the order of its messages. It imports only
`jsonrpc`.
"""
