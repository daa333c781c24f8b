"""Files on disk that tool calls change: the diff tab, warnings before a call, trees around it.

Rule: a file that cannot be read is reported, its content never guessed. Git runs in a thread;
nothing waits long for it.
"""
