"""Callers that an OpenID provider authenticates: its keys, its tokens, and the roles they give."""
