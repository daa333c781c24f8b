"""Soak: a Neovim of each version is used at random for minutes. `make soak MINUTES=60 [SEED=1]`.

A user (`user.py`) does what a table of actions offers: in chats (`chats.py`), in windows, files and
panels (`editing.py`), and what ends programs (`endings.py`). Every hundred actions they rest
(`rest.py`): everything that was sent is looked for, all is closed, and what is left is counted
(`counts.py`). Counts must be those of the first rest, memory must not grow in the last half
(`course.py`).
"""
