"""The MCP server `editor`: what Neovim knows of the code, for agents that speak ACP.

An agent starts `bridge`, which connects it to the host's socket. `editor_socket` listens there and
speaks the protocol (Model Context Protocol) with each agent; `tools` answers from the editor.

`link_socket` takes the web addresses that the programs in `openers/` hand over by the same bridge.
"""
