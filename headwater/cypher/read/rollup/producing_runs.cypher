// Return the runs that wrote the given versions.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: headwater cypher read/rollup/producing_runs --param urns=URN,URN
UNWIND $urns AS urn
MATCH (:Artifact {urn: urn})<-[:PRODUCED]-(r:PipelineRun)
RETURN DISTINCT r.urn AS urn
