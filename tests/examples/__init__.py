"""Tests of the files in examples/."""
