"""What the user asks for, one file for each kind of request: saved chats, history, search, review.

Rule: a request is answered once, in every case; a chat that nobody knows is not made by asking.
"""
