// Return the nodes that Headwater keeps for itself: migrations, checkpoints, the write lock and the
// rollup horizons. This is a scan of labels with a few nodes each.
// access: read
// params: none
// returns: label, properties
// example: headwater cypher read/export/internal_nodes
MATCH (n:Checkpoint|Migration|Retention|WriteLock)
RETURN labels(n)[0] AS label, properties(n) AS properties
ORDER BY label, coalesce(n.spool, n.name)
