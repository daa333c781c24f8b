"""A demo agent: a server with a scripted model and real tools. It speaks ECA or ACP over stdio.

It is used if there is no other server, shows what the chat can do, and serves the tests. Start it
with `python -m eca_nvim.demo`, or with `--acp`. It behaves as the real servers do, also in the
order of its messages. It imports only `jsonrpc`.

scenes.py   what the scripted model does for which prompt, as data
engine.py   plays a scene: streams, calls tools, asks
tools.py    the tools: real files and a real shell in a scratch folder
eca.py      the engine as an ECA server, acp.py as an agent of the Agent Client Protocol
wire.py     stdin and stdout as a JSON-RPC peer
"""
