// Whether Neo4j answers at all.
// access: read
// params: none
// returns: alive
// example: headwater cypher read/alive
RETURN true AS alive
