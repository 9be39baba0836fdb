"""Access control: API keys, scopes, the rules of routes and fields, and the log of access."""
