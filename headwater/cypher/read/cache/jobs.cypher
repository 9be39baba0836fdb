// Return the given jobs with their current edges: inputs, outputs with the inputs they derive from
// (as in read/traversal/job_outputs), and the jobs that they feed.
// access: read
// params: $urns LIST<STRING>
// returns: urn, namespace, name, inputs, outputs, feeds
// example: headwater cypher read/cache/jobs --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, j.namespace AS namespace, j.name AS name,
  COLLECT { MATCH (j)<-[e:FEEDS]-(i:Dataset) WHERE e.current RETURN DISTINCT i.urn } AS inputs,
  COLLECT {
    MATCH (j)-[p:PRODUCED]->(o:Dataset) WHERE p.current
    RETURN [o.urn, coalesce(p.explicit, false), CASE WHEN p.explicit
        THEN [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
          WHERE ('lineage' IN r.evidence OR r.declared)
          AND (EXISTS { (i)-[:FEEDS {current: true}]->(j) }
            OR NOT EXISTS { (i)-[:FEEDS]->(j) }) | i.urn]
        WHEN p.fromAllInputs THEN []
        ELSE [(o)-[r:DERIVED_FROM {job: j.urn}]->(i:Dataset)
          WHERE EXISTS { (i)-[:FEEDS {current: true}]->(j) } | i.urn]
      END]
  } AS outputs,
  COLLECT { MATCH (j)-[e:FEEDS]->(o:Job) WHERE e.current RETURN DISTINCT o.urn } AS feeds
