// Make one hop upstream in the run history. Return the versions that the given runs read.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: process, place
// example: headwater cypher read/traversal/run_inputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})<-[:FEEDS]-(v:Source|Artifact)
RETURN urn AS process, v.urn AS place
LIMIT $limit
