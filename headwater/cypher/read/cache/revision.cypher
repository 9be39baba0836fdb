// Which revision of the graph this is: one more with every transaction that wrote. graph: which graph it is a revision
// of; another one when everything was erased.
// access: read
// params: none
// returns: revision, graph, erasing
// example: headwater cypher read/cache/revision
MATCH (l:WriteLock {name: 'graph'})
RETURN coalesce(l.revision, 0) AS revision, coalesce(l.graph, '') + ' ' + coalesce(l.erasedAt, 0) AS graph,
  coalesce(l.erasing, false) AS erasing
