// Make one hop upstream in the run history. Return the versions that the given runs read.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion
// example: headwater cypher read/traversal/run_inputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})<-[:FEEDS]-(v:Source|Artifact)
RETURN urn AS jobOrRun, v.urn AS datasetOrVersion
LIMIT $limit
