"""The user's requests that need an answer: saved chats, history, search, review of changes."""
