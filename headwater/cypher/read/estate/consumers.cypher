// Return the jobs whose runs began in a time window and read a dataset, costliest first. The
// lineage graph names the jobs that may have read it. So even for a dataset with a million reading
// runs, only the runs of the window are read, the newest $runsMax. Each job has its urn, owners,
// the
// number of runs examined (also where none read the dataset), the number of runs that read it, the
// last start, rows, bytes and seconds. Rows and bytes are as reported; seconds are the even share
// of this dataset in the time of its runs. All jobs are in one row, since there may be thousands.
// access: read
// params: $urn STRING, $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $runsMax
//   INTEGER = 20000, $limit INTEGER = 5000
// returns: consumers
// example: headwater usage dataset:file:/raw/planes
MATCH (:Dataset {urn: $urn})-[:FEEDS]->(reader:Job)
WITH DISTINCT reader
CALL (reader) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name
    AND r.startedAt >= $since AND r.startedAt < $until
    AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r, reader AS j ORDER BY r.namespace DESC, r.pipelineName DESC,
    r.startedAt DESC LIMIT $runsMax
  UNION
  MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
  USING INDEX SEEK e:RUN_OF(indexedUnder)
  WHERE e.indexedUnder = reader.urn AND r.startedAt >= $since AND r.startedAt < $until
    AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
      AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r, COLLECT {
    MATCH (r)-[:RUN_OF]->(j:Job)
    RETURN j ORDER BY j.namespace = r.namespace AND j.name = r.pipelineName DESC, j.urn LIMIT 1
  }[0] AS j
}
WITH DISTINCT r, j ORDER BY r.startedAt DESC LIMIT $runsMax
MATCH (v:Artifact|Source)-[e:FEEDS]->(r)
WITH r, j, v.dataset = $urn AS ours, e,
  CASE WHEN $visible IS NULL OR any(p IN $visible WHERE v.namespace =~ p)
    THEN v.dataset END AS input
WITH r, j, count(CASE WHEN ours THEN 1 END) > 0 AS reads,
  max(CASE WHEN ours THEN e.rowCount END) AS rows,
  max(CASE WHEN ours THEN e.bytes END) AS bytes, count(DISTINCT input) AS inputs
WITH j, count(r) AS examined, count(CASE WHEN reads THEN 1 END) AS runs,
  max(CASE WHEN reads THEN r.startedAt END) AS lastRead, toInteger(sum(rows)) AS rows,
    count(rows) AS rowsReported,
  toInteger(sum(bytes)) AS bytes, count(bytes) AS bytesReported,
    sum(CASE WHEN reads AND r.finishedAt > r.startedAt
    THEN (r.finishedAt.epochMillis - r.startedAt.epochMillis) / 1000.0 / inputs ELSE 0.0 END)
      AS seconds
WITH j.urn AS job, j.owners AS owners, examined, runs, lastRead,
  CASE WHEN rowsReported > 0 THEN rows END AS rows,
  CASE WHEN bytesReported > 0 THEN bytes END AS bytes, seconds
ORDER BY runs > 0 DESC, seconds DESC, job
LIMIT $limit
RETURN collect([job, owners, examined, runs, lastRead, rows, bytes, seconds]) AS consumers
