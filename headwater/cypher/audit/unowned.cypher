// Datasets and jobs that nobody owns, those first that most rely on: for a dataset the jobs that read it, for a job
// the datasets that it makes. A job is owned where one that contains it is. Whom to ask: the owners of the jobs that
// make the dataset. This is a scan over all datasets and jobs, because what is missing has no index.
// access: read
// params: $limit INTEGER = 100
// returns: kind, namespace, name, reliedOnBy, ask
// example: headwater cypher unowned --param limit=10
CALL () {
  MATCH (d:Dataset)
  WHERE d.droppedAt IS NULL AND coalesce(d.owners, []) = []
  RETURN 'dataset' AS kind, d AS n, COUNT { (d)-[:FEEDS {current: true}]->(:Job) } AS reliedOnBy,
    COLLECT {
      MATCH (j:Job)-[:PRODUCED {current: true}]->(d)
      UNWIND j.owners AS owner
      RETURN DISTINCT owner ORDER BY owner
    } AS ask
  UNION ALL
  MATCH (j:Job)
  WHERE coalesce(j.owners, []) = [] AND NOT EXISTS { (j)-[:PART_OF]->{1,10}(c:Job WHERE c.owners <> []) }
  RETURN 'job' AS kind, j AS n, COUNT { (j)-[:PRODUCED {current: true}]->(:Dataset) } AS reliedOnBy, [] AS ask
}
RETURN kind, n.namespace AS namespace, n.name AS name, reliedOnBy, ask
ORDER BY reliedOnBy DESC, kind, namespace, name
LIMIT $limit
