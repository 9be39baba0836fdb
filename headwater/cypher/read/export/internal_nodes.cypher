// What Headwater keeps in the graph for itself, a few nodes each: migrations, checkpoints, the write lock, what was
// rolled up until when. A scan of labels that have no more than that.
// access: read
// params: none
// returns: label, properties
// example: headwater cypher read/export/internal_nodes
MATCH (n:Checkpoint|Migration|Retention|WriteLock)
RETURN labels(n)[0] AS label, properties(n) AS properties
ORDER BY label, coalesce(n.spool, n.name)
