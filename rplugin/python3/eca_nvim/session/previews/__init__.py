"""Previews: what agents propose for lines of a buffer, for the view to show there."""
