"""What tool calls do to the user's files: shown before, found by surveys, reviewed after.

Rule: files are read off the event loop; a file that cannot be read is said so, not guessed.
"""
