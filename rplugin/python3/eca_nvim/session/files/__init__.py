"""What tool calls do to files on the disk: the diff tab, warnings before, surveys around commands.

Rule: what cannot be read is said, not guessed. Surveys run in a thread; nothing waits long for one.
"""
