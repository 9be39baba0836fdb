"""How the graph is read and written: one .cypher file per statement, and the little that loads and runs them.

| folder | what lives there |
|---|---|
| `migrations/` | constraints and indexes, numbered, applied at start, recorded in the graph |
| `write/` | what the worker runs; rows are passed as parameters |
| `read/` | what GraphQL and the command line ask |
| `audit/` | questions for auditors: paste one into a shell, or `headwater cypher NAME` |
"""
