// Return a page of the datasets that were known before an instant and that no run or answer has
// read since, largest first. Add the count and bytes of all of them. Dropped datasets are excluded.
// This is a scan over all datasets, because no edge leads to a dataset without readers. The lineage
// graph names the jobs that may have read one and when each last reported that it does, as in
// read/estate/last_reads. A run under way at the start of the window is searched among the last
// thousand runs of its job before that.
// access: read
// params: $since DATETIME, $namespace STRING = "", $visible LIST<STRING> = null, $cursorBytes
//   INTEGER
//   = 9223372036854775807,
//   $cursorUrn STRING = "", $limit INTEGER = 20
// returns: count, bytes, unknown_size_count, page
// example: headwater unused --days 30
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL AND coalesce(d.firstSeen < $since, true)
  AND ($namespace = '' OR d.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND NOT EXISTS {
    MATCH (d)-[feeds:FEEDS]->(reader:Job)
    WITH reader, max(coalesce(feeds.lastSeen, datetime({year: 9999}))) AS fedAt
    CALL (d, reader, fedAt) {
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
      WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name
        AND r.startedAt >= $since AND r.startedAt <= fedAt
        AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
      RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 1
      UNION
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
      WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name
        AND r.startedAt >= $since AND r.startedAt > fedAt
      WITH d, r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 100
      WHERE EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
      RETURN r
      UNION
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
      WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name
        AND r.startedAt < $since AND r.startedAt <= fedAt
      WITH d, r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 1000
      WHERE (r.finishedAt >= $since OR r.status = 'RUNNING')
        AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
      RETURN r
      UNION
      MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
      USING INDEX SEEK e:RUN_OF(indexedUnder)
      WHERE e.indexedUnder = reader.urn
        AND (r.startedAt >= $since OR r.finishedAt >= $since OR r.status = 'RUNNING')
        AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
      RETURN r
    }
    RETURN r
  }
  AND NOT EXISTS {
    MATCH ()-[e:CITED_BY]->(a:Answer)
    USING INDEX SEEK e:CITED_BY(dataset)
    WHERE e.dataset = d.urn AND coalesce(a.generatedAt, $since) >= $since
  }
  AND NOT EXISTS {
    MATCH (d)-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(a:Answer)
    WHERE coalesce(a.generatedAt, $since) >= $since
  }
WITH d.urn AS urn, COLLECT {
  MATCH (v:Artifact)
  USING INDEX SEEK v:Artifact(dataset, complete, createdAt)
  WHERE v.dataset = d.urn AND v.complete = true AND v.createdAt IS NOT NULL
  RETURN v.bytes ORDER BY v.dataset DESC, v.complete DESC, v.createdAt DESC, v.urn DESC LIMIT 1
}[0] AS bytes
ORDER BY coalesce(bytes, -1) DESC, urn
WITH collect({urn: urn, bytes: bytes}) AS found, toInteger(sum(bytes)) AS bytes
RETURN size(found) AS count, bytes, size([f IN found WHERE f.bytes IS NULL]) AS unknown_size_count,
  [f IN found WHERE coalesce(f.bytes, -1) < $cursorBytes
    OR (coalesce(f.bytes, -1) = $cursorBytes AND f.urn > $cursorUrn)][..$limit] AS page
