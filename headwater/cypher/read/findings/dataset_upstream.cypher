// Return the datasets from which the current producers make the given datasets, one hop upstream.
// Where events name the origins of a dataset, the other inputs of the job are left out.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 200
// returns: urn, upstream
// example: headwater cypher read/findings/dataset_upstream --param urns=dataset:file:/marts/delays
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (d)<-[p:PRODUCED]-(j:Job)<-[f:FEEDS]-(i:Dataset)
  WHERE p.current AND f.current AND i <> d AND i.droppedAt IS NULL AND i.deletedAt IS NULL
    AND ((coalesce(p.fromAllInputs, false) AND NOT coalesce(p.explicit, false))
      OR NOT EXISTS { (d)-[:DERIVED_FROM {job: j.urn}]->(:Dataset) }
      OR EXISTS { (d)-[:DERIVED_FROM {job: j.urn}]->(i) })
  RETURN {urn: i.urn, job: j.urn, tags: i.tags,
    firstSeen: CASE WHEN p.firstSeen > f.firstSeen THEN p.firstSeen ELSE f.firstSeen END,
    lastSeen: CASE WHEN p.lastSeen < f.lastSeen THEN p.lastSeen ELSE f.lastSeen END}
  ORDER BY i.urn, j.urn LIMIT $limit
} AS upstream
