"""The protocols the plugin speaks, as types; one sub-package a protocol."""
