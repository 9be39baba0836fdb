// Return datasets and jobs without owners, those with the most dependents first. Dependents of a
// dataset are the jobs that read it, those of a job the datasets that it produces. A job has an
// owner if a job that contains it has one. `ask` names the owners of the jobs that produce the
// dataset. This is a scan over all datasets and jobs, because no index covers missing properties.
// access: read
// params: $limit INTEGER = 100
// returns: kind, namespace, name, reliedOnBy, ask
// example: headwater cypher unowned --param limit=10
CALL () {
  MATCH (d:Dataset)
  WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL AND coalesce(d.owners, []) = []
  RETURN 'dataset' AS kind, d AS n, COUNT { (d)-[:FEEDS {current: true}]->(:Job) } AS reliedOnBy,
    COLLECT {
      MATCH (j:Job)-[:PRODUCED {current: true}]->(d)
      UNWIND j.owners AS owner
      RETURN DISTINCT owner ORDER BY owner
    } AS ask
  UNION ALL
  MATCH (j:Job)
  WHERE j.deletedAt IS NULL AND coalesce(j.owners, []) = []
    AND NOT EXISTS { (j)-[:PART_OF]->{1,10}(c:Job WHERE c.owners <> []) }
  RETURN 'job' AS kind, j AS n, COUNT { (j)-[:PRODUCED {current: true}]->(:Dataset) } AS reliedOnBy,
    [] AS ask
}
RETURN kind, n.namespace AS namespace, n.name AS name, reliedOnBy, ask
ORDER BY reliedOnBy DESC, kind, namespace, name
LIMIT $limit
