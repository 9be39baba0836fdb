"""Fuzzing: many random inputs for each reader of text from outside, with invariants per reader."""
