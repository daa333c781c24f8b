"""Files on disk that tool calls change: the diff tab, warnings before a call, surveys around it.

Rule: a file that cannot be read is reported, its content never guessed. Surveys run in a thread;
nothing waits long for one.
"""
