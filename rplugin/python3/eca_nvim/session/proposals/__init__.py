"""What calls propose to do to files: as the disk says it is, shown whole, and taken in part.

Rule: a file that cannot be read is reported, its content never guessed.
"""
