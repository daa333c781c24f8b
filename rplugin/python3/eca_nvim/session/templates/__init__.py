"""Templates: prompts that the user, a project or this plugin keeps in Markdown files."""
