// Return the nodes of the run history where a traversal from the given nodes starts, newest first.
// A dataset starts at its versions and captured sources in the time range, a column at those of its
// dataset. A job starts at its runs that began in the range. A run that began up to a week earlier
// and had not ended counts too, among the last thousand runs before the range. A node of the run
// history starts at itself, at any time.
// access: read
// params: $urns LIST<STRING>, $since DATETIME = null, $until DATETIME = null, $limit INTEGER = 1001
// returns: urn
// example: headwater cypher read/traversal/starts_in_run_history --param
//   urns=job:spark:flights.clean
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:PipelineRun {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:Artifact {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:Source {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (n:Answer {urn: urn}) RETURN n AS found, null AS first, null AS last
  UNION
  MATCH (j:Job {urn: urn})
  CALL (j) {
    MATCH (n:PipelineRun)
    USING INDEX SEEK n:PipelineRun(namespace, pipelineName, startedAt)
    WHERE n.namespace = j.namespace AND n.pipelineName = j.name
      AND n.startedAt >= coalesce($since, datetime({year: 1}))
      AND n.startedAt <= coalesce($until, datetime({year: 9999})) AND EXISTS { (n)-[:RUN_OF]->(j) }
      AND ($since IS NULL OR n.finishedAt IS NULL OR n.finishedAt >= $since)
    RETURN n ORDER BY n.namespace DESC, n.pipelineName DESC, n.startedAt DESC, n.urn LIMIT $limit
    UNION
    MATCH (n:PipelineRun)
    USING INDEX SEEK n:PipelineRun(namespace, pipelineName, startedAt)
    WHERE n.namespace = j.namespace AND n.pipelineName = j.name
      AND n.startedAt >= $since - duration({days: 7})
      AND n.startedAt < $since AND n.startedAt <= coalesce($until, datetime({year: 9999}))
    WITH j, n ORDER BY n.namespace DESC, n.pipelineName DESC, n.startedAt DESC, n.urn LIMIT 1000
    WHERE (n.finishedAt IS NULL OR n.finishedAt >= $since) AND EXISTS { (n)-[:RUN_OF]->(j) }
    RETURN n LIMIT $limit
    UNION
    MATCH (n:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn
    RETURN n
  }
  RETURN n AS found, n.startedAt AS first, n.finishedAt AS last
  UNION
  CALL (urn) {
    MATCH (d:Dataset {urn: urn}) RETURN d
    UNION
    MATCH (d:Dataset)-[:HAS_COLUMN]->(:Column {urn: urn}) RETURN d
  }
  CALL (d) {
    UNWIND [true, false] AS complete
    CALL (d, complete) {
      MATCH (n:Artifact)
      USING INDEX SEEK n:Artifact(dataset, complete, createdAt)
      WHERE n.dataset = d.urn AND n.complete = complete
        AND n.createdAt >= coalesce($since, datetime({year: 1}))
        AND n.createdAt <= coalesce($until, datetime({year: 9999}))
          AND EXISTS { (n)-[:VERSION_OF]->(d) }
      RETURN n ORDER BY n.dataset DESC, n.complete DESC, n.createdAt DESC, n.urn LIMIT $limit
    }
    RETURN n
    UNION
    MATCH (n:Artifact)-[e:VERSION_OF]->(:Dataset)
    USING INDEX SEEK e:VERSION_OF(indexedUnder)
    WHERE e.indexedUnder = d.urn
    RETURN n
    UNION
    MATCH (n:Source)
    USING INDEX SEEK n:Source(dataset)
    WHERE n.dataset = d.urn AND EXISTS { (n)-[:VERSION_OF]->(d) }
    RETURN n
  }
  RETURN n AS found, coalesce(n.createdAt, n.capturedAt) AS first,
    coalesce(n.createdAt, n.capturedAt) AS last
}
WITH found.urn AS urn, max(first) AS first, max(last) AS last
WHERE ($since IS NULL OR last IS NULL OR last >= $since)
  AND ($until IS NULL OR first IS NULL OR first <= $until)
RETURN urn ORDER BY first DESC, urn
LIMIT $limit
