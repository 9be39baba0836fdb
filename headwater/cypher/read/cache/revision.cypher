// Return the revision of the graph, which every committed write transaction increments by one.
// `graph` identifies the graph of the revision; it changes when the graph is erased.
// access: read
// params: none
// returns: revision, graph, erasing
// example: headwater cypher read/cache/revision
MATCH (l:WriteLock {name: 'graph'})
RETURN coalesce(l.revision, 0) AS revision,
  coalesce(l.graph, '') + ' ' + coalesce(l.erasedAt, 0) AS graph,
  l.erasing IS NOT NULL AS erasing
