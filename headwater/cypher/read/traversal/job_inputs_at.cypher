// Make one hop upstream in the lineage graph as of an instant. Return the datasets that were known
// then as inputs of the given jobs. A job read the declared ones then; of the others,
// read/traversal/datasets_in_use shows which.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: jobOrRun, datasetOrVersion, declared, firstSeen, lastSeen
// example: headwater cypher read/traversal/job_inputs_at --param urns=job:spark:flights.clean
//   --param at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})<-[e:FEEDS]-(i:Dataset)
WHERE e.firstSeen <= $at
RETURN DISTINCT urn AS jobOrRun, i.urn AS datasetOrVersion,
  CASE WHEN e.declared THEN true END AS declared,
  e.firstSeen.epochMillis AS firstSeen, e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
