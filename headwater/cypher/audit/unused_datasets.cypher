// Return datasets that no run read and no answer cited since a time, largest first: storage to
// reclaim. Bytes are those of the newest complete version. A dataset first seen after that time is
// excluded. `wired` are the jobs that are still configured to read it. This is a scan over all
// datasets, because no index covers datasets without readers.
// access: read
// params: $since DATETIME, $limit INTEGER = 100
// returns: lastRead, namespace, name, versions, bytes, wired
// example: headwater cypher unused_datasets --param since=2027-01-01 --param limit=5
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL AND coalesce(d.firstSeen < $since, true)
CALL (d) {
  MATCH (d)-[feeds:FEEDS]->(reader:Job)
  WITH d, reader, max(coalesce(feeds.lastSeen, datetime({year: 9999}))) AS fedAt
  CALL (d, reader, fedAt) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name AND r.startedAt <= fedAt
      AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
    RETURN r.startedAt AS at ORDER BY r.namespace DESC, r.pipelineName DESC,
      r.startedAt DESC LIMIT 1
    UNION
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = reader.namespace AND r.pipelineName = reader.name AND r.startedAt > fedAt
    WITH d, r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 100
    WHERE EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
    RETURN max(r.startedAt) AS at
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = reader.urn
      AND EXISTS { MATCH (r)<-[:FEEDS]-(v:Artifact|Source) WHERE v.dataset = d.urn }
    RETURN max(r.startedAt) AS at
  }
  RETURN max(at) AS readAt
}
CALL (d) {
  MATCH ()-[e:CITED_BY]->(a:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = d.urn
  RETURN max(a.generatedAt) AS citedAt
}
WITH d, CASE WHEN citedAt IS NULL OR readAt > citedAt THEN readAt ELSE citedAt END AS lastRead
WHERE lastRead IS NULL OR lastRead < $since
OPTIONAL CALL (d) {
  MATCH (v:Artifact)
  USING INDEX SEEK v:Artifact(dataset, complete, createdAt)
  WHERE v.dataset = d.urn AND v.complete = true AND v.createdAt IS NOT NULL
  RETURN v.bytes AS bytes ORDER BY v.dataset DESC, v.complete DESC, v.createdAt DESC, v.urn LIMIT 1
}
RETURN lastRead, d.namespace AS namespace, d.name AS name, COUNT { ()-[:VERSION_OF]->(d) } - COUNT {
    MATCH (s:Source) WHERE s.dataset = d.urn AND EXISTS { (s)-[:VERSION_OF]->(d) }
  } AS versions, bytes,
  COUNT { (d)-[:FEEDS {current: true}]->(:Job) } AS wired
ORDER BY coalesce(bytes, -1) DESC, namespace, name
LIMIT $limit
