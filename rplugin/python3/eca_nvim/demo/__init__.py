"""A demo agent: a server with a scripted model and real tools. It speaks ECA or ACP over stdio.

It is used if there is no other server, shows what the chat can do, and serves the tests. Start it
with `python -m eca_nvim.demo`, or with `--acp`.

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
acp_*.py      the same as an agent of the Agent Client Protocol: messages, turn, options
tools.py      the tools: real files and a real shell in a scratch folder

Rule: it behaves as the real server does, also in the order of its messages. It imports only
`jsonrpc`.
"""
