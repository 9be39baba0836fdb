// Make one hop downstream in the run history, from run to run, where no dataset carried the data.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/run_targets --param urns=run:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:PipelineRun {urn: urn})-[e:FEEDS]->(o:PipelineRun) RETURN o
}
RETURN DISTINCT urn AS source, o.urn AS target
LIMIT $limit
