// One layer of a walk upstream over history: the versions that these runs read.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: process, place
// example: headwater cypher read/traversal/run_inputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})<-[:FEEDS]-(v:Source|Artifact)
RETURN urn AS process, v.urn AS place
LIMIT $limit
