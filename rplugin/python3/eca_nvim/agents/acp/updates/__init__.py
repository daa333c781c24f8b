"""What a session sends (session/update), as events of its chat."""
