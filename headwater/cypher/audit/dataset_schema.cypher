// Return the columns of a dataset: its current columns, and those that only lineage or an older
// schema names.
// access: read
// params: $namespace STRING, $name STRING
// returns: column, type, current, feeds
// example: headwater cypher dataset_schema --param namespace=file --param
//   name=/demo/flights/raw/planes
MATCH (d:Dataset {name: $name})-[:HAS_COLUMN]->(c:Column)
WHERE d.namespace = $namespace
RETURN c.name AS column, c.type AS type, c.current AS current, COUNT { (c)-[:FEEDS]->() } AS feeds
ORDER BY current DESC, column
