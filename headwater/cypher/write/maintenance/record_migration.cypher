// Record that a migration was applied.
// access: write
// params: $name STRING
// returns: nothing
// example: run by the server at start
MERGE (m:Migration {name: $name})
ON CREATE SET m.appliedAt = datetime()
