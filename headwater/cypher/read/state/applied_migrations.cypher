// The migrations this database has had: a scan of a label that has a node for each migration and no more.
// access: read
// params: none
// returns: name, appliedAt
// example: headwater cypher read/state/applied_migrations
MATCH (m:Migration)
RETURN m.name AS name, m.appliedAt AS appliedAt
ORDER BY name
