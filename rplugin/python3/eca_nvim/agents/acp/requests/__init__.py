"""What an agent asks us, and how it is answered."""
