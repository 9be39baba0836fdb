"""The gate: what a change in a git repository would break downstream, judged before it is merged.

`repository` reads git, `find` reads files, `compare` tells what of a table changes, `datasets` finds which dataset a
table is, `ask` asks the API, `verdict` judges, and the others say it: Markdown, SARIF, JUnit, annotations. What cannot
be assessed blocks.
"""
