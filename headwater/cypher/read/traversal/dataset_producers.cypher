// Make one hop upstream in the lineage graph. Return the jobs that currently produce the given
// datasets. `derived` are the inputs of the job from which the dataset is known to derive; an empty
// list means any input. Where `explicit` is true, the events named the inputs and the list is
// complete.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: datasetOrVersion, jobOrRun, derived, explicit, firstSeen, lastSeen
// example: headwater cypher read/traversal/dataset_producers --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (o:Dataset {urn: urn})<-[p:PRODUCED]-(j:Job)
WHERE p.current
RETURN urn AS datasetOrVersion, j.urn AS jobOrRun, CASE WHEN p.explicit
    THEN [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE ('lineage' IN r.evidence OR r.declared)
      AND (EXISTS { (i)-[:FEEDS {current: true}]->(j) }
        OR NOT EXISTS { (i)-[:FEEDS]->(j) }) | i.urn]
    WHEN p.fromAllInputs THEN []
    ELSE [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
      WHERE EXISTS { (i)-[:FEEDS {current: true}]->(j) } | i.urn]
    END AS derived,
  coalesce(p.explicit, false) AS explicit, p.firstSeen.epochMillis AS firstSeen,
    p.lastSeen.epochMillis AS lastSeen
LIMIT $limit
