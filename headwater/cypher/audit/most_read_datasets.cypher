// Return the datasets that the most jobs read: where a failure has the widest effect. This is a
// scan over all datasets, to rank them.
// access: read
// params: $limit INTEGER = 100
// returns: readers, namespace, name, producers, lastSeen
// example: headwater cypher most_read_datasets --param limit=10
MATCH (d:Dataset)
WITH d, COUNT { MATCH (d)-[:FEEDS {current: true}]->(j:Job) RETURN DISTINCT j } AS readers
WHERE readers > 0
ORDER BY readers DESC, d.urn LIMIT $limit
RETURN readers, d.namespace AS namespace, d.name AS name,
  COUNT { MATCH (j:Job)-[:PRODUCED {current: true}]->(d) RETURN DISTINCT j } AS producers,
    d.lastSeen AS lastSeen
ORDER BY readers DESC, namespace, name
