// Datasets that were known before an instant and that nothing has read since, neither a run nor an answer, a page at a
// time, the largest first, with the count and the bytes of all of them. Not those that were dropped.
// This is a scan over all datasets: what nobody reads cannot be reached from any reader.
// access: read
// params: $since DATETIME, $namespace STRING = "", $sees LIST<STRING> = null, $cursorBytes INTEGER = 9223372036854775807,
//   $cursorUrn STRING = "", $limit INTEGER = 20
// returns: count, bytes, unsized, page
// example: headwater unused --days 30
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND coalesce(d.firstSeen < $since, true) AND ($namespace = '' OR d.namespace = $namespace)
  AND ($sees IS NULL OR any(p IN $sees WHERE d.namespace =~ p))
  AND NOT EXISTS {
    MATCH (d)<-[:VERSION_OF]-(:Artifact|Source)-[:FEEDS]->(r:PipelineRun)
    WHERE r.startedAt >= $since OR r.finishedAt >= $since OR r.status = 'RUNNING'
  }
  AND NOT EXISTS {
    MATCH (d)<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(a:Answer)
    WHERE coalesce(a.generatedAt, $since) >= $since
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
WITH collect({urn: urn, bytes: bytes}) AS found, sum(bytes) AS bytes
RETURN size(found) AS count, bytes, size([f IN found WHERE f.bytes IS NULL]) AS unsized,
  [f IN found WHERE coalesce(f.bytes, -1) < $cursorBytes
    OR (coalesce(f.bytes, -1) = $cursorBytes AND f.urn > $cursorUrn)][..$limit] AS page
