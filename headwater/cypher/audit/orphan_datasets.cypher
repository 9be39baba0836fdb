// Datasets that no job makes or reads, that came from no other and that no answer cites: named by an event, connected
// to nothing. This is a scan over all datasets, because what is not connected cannot be reached from anything.
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
