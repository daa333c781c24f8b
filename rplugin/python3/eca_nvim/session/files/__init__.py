"""Files on disk before and after what agents do: checkpoints, turns, and what git says of them.

Git runs in a thread; nothing waits long for it.
"""
