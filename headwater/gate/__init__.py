"""The gate: the downstream effects of a branch in a git repository, before it is merged.

`repository` reads git, `changes` finds the changed tables, `resolve_datasets` finds their
datasets, `client` asks the API, `verdict` decides, and `reports` render the result. A change that
cannot be assessed blocks the branch.
"""
