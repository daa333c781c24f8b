"""The MCP server `editor`: what Neovim knows of the code, for agents that speak ACP.

An agent starts `bridge`, which connects it to the host's socket (`editor_socket`). `conversation`
speaks the protocol (Model Context Protocol) with one agent, `tools` answers from the editor.
"""
