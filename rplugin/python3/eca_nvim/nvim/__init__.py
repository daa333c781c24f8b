"""The adapter to Neovim: the entry points of its host, frames, editor services, settings.

The only layer that imports pynvim.
"""
