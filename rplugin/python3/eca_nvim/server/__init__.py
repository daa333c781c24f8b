"""The server's binary: where it is and how it is started."""
