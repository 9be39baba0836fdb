"""Answers to questions about the graph: one module a question, without driver or HTTP."""
