// Make one hop upstream in the lineage graph as of an instant, from dataset to dataset and from job
// to job, where no node between them is known.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: source, target, firstSeen, lastSeen
// example: headwater cypher read/traversal/direct_sources_at --param urns=job:airflow:load --param
//   at=2026-01-31T00:00:00Z
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn})<-[e:FEEDS]-(o:Dataset) WHERE e.firstSeen <= $at
    AND (e.current OR e.lastSeen >= $at) RETURN o, e
  UNION ALL
  MATCH (n:Job {urn: urn})<-[e:FEEDS]-(o:Job) WHERE e.firstSeen <= $at
    AND (e.current OR e.lastSeen >= $at) RETURN o, e
}
RETURN DISTINCT o.urn AS source, urn AS target, e.firstSeen.epochMillis AS firstSeen,
  e.lastSeen.epochMillis AS lastSeen
LIMIT $limit
