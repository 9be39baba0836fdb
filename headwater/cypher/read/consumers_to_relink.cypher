// Runs and answers that may have to be linked to another version, because one appeared or moved in time: the consumers
// of that version itself and of those around the instants it moved between. Where no complete version came before,
// these are the consumers of the source and of every incomplete version.
// access: read
// params: $rows LIST<MAP>
// returns: urn
// example: run by the worker
UNWIND $rows AS row
CALL (row) {
  MATCH (a:Artifact {urn: row.artifact})
  RETURN a AS version
  UNION
  UNWIND row.instants AS instant
  CALL (row, instant) {
    MATCH (a:Artifact)
    WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt <= instant AND a.urn <> row.artifact
    RETURN a ORDER BY a.createdAt DESC, a.urn DESC LIMIT 2
  }
  RETURN a AS version
  UNION
  WITH row WHERE NOT EXISTS {
    MATCH (a:Artifact)
    WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt <= row.since AND a.urn <> row.artifact
  }
  CALL (row) {
    MATCH (s:Source {dataset: row.dataset}) RETURN s AS earlier
    UNION ALL
    MATCH (a:Artifact {dataset: row.dataset, complete: false}) RETURN a AS earlier
  }
  RETURN earlier AS version
}
MATCH (version)-[:FEEDS|CITED_BY]->(consumer:PipelineRun|Answer)
WHERE coalesce(consumer.startedAt, consumer.generatedAt) >= row.since
RETURN DISTINCT consumer.urn AS urn
