"""Logs of the server's processes: one line an entry, in one schema, with the id of the request."""
