// Link versions to the version whose content they kept, and to no other; to none if `kept` is "".
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Artifact {urn: row.version})
CALL (a) {
  MATCH (:Artifact)-[old:FEEDS]->(a)
  DELETE old
}
WITH a, row
MATCH (kept:Artifact {urn: row.kept})
CREATE (kept)-[:FEEDS]->(a)
