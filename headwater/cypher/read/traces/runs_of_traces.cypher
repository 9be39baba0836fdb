// Return the visible runs that name each of the given traces, newest start first.
// access: read
// params: $traceIds LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER = 201
// returns: traceId, urns
// example: headwater cypher runs_of_traces --param traceIds=4bf92f3577b34da6a3ce929d0e0e4736
UNWIND $traceIds AS traceId
CALL (traceId) {
  CALL db.index.fulltext.queryNodes('traces', traceId) YIELD node
  WITH node WHERE traceId IN node.traceIds
    AND ($visible IS NULL OR any(p IN $visible WHERE node.namespace =~ p)
      AND NOT EXISTS { (node)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  WITH node ORDER BY node.startedAt DESC, node.urn LIMIT $limit
  RETURN collect(node.urn) AS urns
}
RETURN traceId, urns
