"""What the messages of any protocol share: their base types, and bytes to types and back.

`types` has the base classes of messages, `codec` turns bytes into types and back, `lenient` reads
objects that do not fit their type. Rule: nothing here knows a method.
"""
