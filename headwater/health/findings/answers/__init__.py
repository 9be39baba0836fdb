"""Findings about answers: their histories and the detectors that read them."""
