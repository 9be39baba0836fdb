// Make one hop upstream in the run history. Return the runs that wrote the given versions.
// `derived` are the versions read from which the version is known to derive; an empty list means
// any of them. Where `explicit` is true, the events named the inputs and the list is complete.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun, derived, explicit
// example: headwater cypher read/traversal/version_producers --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})<-[:PRODUCED]-(r:PipelineRun)
RETURN urn AS datasetOrVersion, r.urn AS jobOrRun,
  CASE WHEN a.explicit THEN [(a)-[:DERIVED_FROM]->(v) | v.urn]
    ELSE [(a)-[:DERIVED_FROM]->(v) WHERE EXISTS { (v)-[:FEEDS]->(r) } | v.urn] END AS derived,
  coalesce(a.explicit, false) AS explicit
LIMIT $limit
