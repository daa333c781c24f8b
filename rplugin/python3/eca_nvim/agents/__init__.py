"""Agents: one adapter a protocol. `base.py` is what the session sees; nothing above knows more."""
