// Return further runs with a reported run id: $prefix is the urn of that id with `~`. The
// job of a run is in one of the namespaces $visible, which are regular expressions.
// access: read
// params: $prefix STRING, $visible LIST<STRING>, $limit INTEGER
// returns: urn
// example: headwater cypher read/nodes/runs_of_id --param prefix=run:ID~ --param
//   visible='team-a.*' --param limit=10
MATCH (r:PipelineRun)
WHERE r.urn STARTS WITH $prefix AND substring(r.urn, size($prefix)) =~ '[0-9a-f]{16}'
  AND any(p IN $visible WHERE r.namespace =~ p)
RETURN r.urn AS urn ORDER BY urn LIMIT $limit
