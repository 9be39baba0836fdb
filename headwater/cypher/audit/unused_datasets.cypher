// Datasets that no run read and no answer cited since a time, those first that hold most: storage to reclaim. Bytes
// are those of the newest whole version; one that is first heard of after that time is left out. `wired` are the jobs
// that are still set up to read it. This is a scan over all datasets, because what nobody read is in no index.
// access: read
// params: $since DATETIME, $limit INTEGER = 100
// returns: lastRead, namespace, name, versions, bytes, wired
// example: headwater cypher unused_datasets --param since=2027-01-01 --param limit=5
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND coalesce(d.firstSeen < $since, true)
CALL (d) {
  OPTIONAL MATCH (d)<-[:VERSION_OF]-()-[:FEEDS]->(r:PipelineRun)
  RETURN max(r.startedAt) AS readAt
}
CALL (d) {
  OPTIONAL MATCH (d)<-[:VERSION_OF]-()-[:CITED_BY]->(a:Answer)
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
RETURN lastRead, d.namespace AS namespace, d.name AS name, COUNT { (d)<-[:VERSION_OF]-(:Artifact) } AS versions, bytes,
  COUNT { (d)-[:FEEDS {current: true}]->(:Job) } AS wired
ORDER BY coalesce(bytes, -1) DESC, namespace, name
LIMIT $limit
