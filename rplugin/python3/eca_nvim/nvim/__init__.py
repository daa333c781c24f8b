"""The adapter to Neovim: intents in, frames out, questions to the editor, settings, the log.

Rule: the only package that imports pynvim. It makes no blocking call.
"""
