// Make one hop upstream in the run history, from run to run, where no dataset carried the data.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/run_sources --param urns=run:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:PipelineRun {urn: urn})<-[e:FEEDS]-(o:PipelineRun) RETURN o
}
RETURN DISTINCT o.urn AS source, urn AS target
LIMIT $limit
