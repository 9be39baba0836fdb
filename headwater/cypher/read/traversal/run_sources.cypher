// One layer of a walk upstream over history, from run to run where the data took no way over a dataset.
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
