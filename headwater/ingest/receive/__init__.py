"""Events come in: HTTP, redaction, acceptance."""
