// Return the data that crosses from one namespace into another, by job. This is a scan over all
// jobs, because any job may do it.
// access: read
// params: $limit INTEGER = 100
// returns: fromNamespace, toNamespace, job, source, target
// example: headwater cypher cross_namespace_flows --param limit=50
MATCH (j:Job)
MATCH (i:Dataset)-[:FEEDS {current: true}]->(j)-[p:PRODUCED {current: true}]->(o:Dataset)
WHERE i.namespace <> o.namespace
  AND ((p.explicit AND EXISTS {
      (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
    })
    OR (p.explicit IS NULL AND (NOT EXISTS { (o)-[r:DERIVED_FROM
      WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
      OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
RETURN i.namespace AS fromNamespace, o.namespace AS toNamespace, j.namespace + ' ' + j.name AS job,
  i.name AS source, o.name AS target
ORDER BY fromNamespace, toNamespace, job, source, target
LIMIT $limit
