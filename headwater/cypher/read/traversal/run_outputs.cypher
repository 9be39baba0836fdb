// Make one hop downstream in the run history. Return the versions that the given runs wrote.
// `derived` are the versions read from which the output is known to derive; an empty list means any
// of them. Where `explicit` is true, the events named the inputs and the list is complete.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, derived, explicit
// example: headwater cypher read/traversal/run_outputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})-[:PRODUCED]->(a:Artifact)
RETURN urn AS jobOrRun, a.urn AS datasetOrVersion,
  CASE WHEN a.explicit THEN [(a)-[:DERIVED_FROM]->(v) | v.urn]
    ELSE [(a)-[:DERIVED_FROM]->(v) WHERE EXISTS { (v)-[:FEEDS]->(r) } | v.urn] END AS derived,
  coalesce(a.explicit, false) AS explicit
LIMIT $limit
