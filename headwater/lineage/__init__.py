"""How questions about the graph are answered: one module a question, no driver, no HTTP."""
