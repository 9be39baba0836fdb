// Return datasets that no job produces or reads, that derive from no other and that no answer
// cites: an event named them, nothing connects them. This is a scan over all datasets, because no
// edge leads to an unconnected node.
// access: read
// params: $limit INTEGER = 100
// returns: namespace, name, lastSeen
// example: headwater cypher orphan_datasets --param limit=20
MATCH (d:Dataset)
WHERE NOT EXISTS { (d)-[:FEEDS|PRODUCED|DERIVED_FROM]-() }
  AND NOT EXISTS { (d)<-[:VERSION_OF]-()-[:CITED_BY]->(:Answer) }
RETURN d.namespace AS namespace, d.name AS name, d.lastSeen AS lastSeen
ORDER BY lastSeen, namespace, name
LIMIT $limit
