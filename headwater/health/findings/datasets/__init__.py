"""Findings about datasets: their histories and the detectors that read them."""
