// Count the datasets and jobs that were known at an instant, and those that were connected by the
// edges known before it. This is a scan over all datasets and jobs, to count them.
// access: read
// params: $instant DATETIME
// returns: datasets, connected, unread, jobs, complete
// example: headwater snapshot --days 90
CALL () {
  MATCH (d:Dataset)
  WHERE d.firstSeen < $instant AND coalesce(d.droppedAt >= $instant, true)
    AND coalesce(d.deletedAt >= $instant, true)
  WITH d,
    EXISTS { MATCH (:Job|Dataset)-[p:PRODUCED|FEEDS]->(d) WHERE p.firstSeen < $instant }
      AS produced,
    EXISTS { MATCH (d)-[f:FEEDS]->(:Job|Dataset) WHERE f.firstSeen < $instant } AS read,
    EXISTS { MATCH (d)<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(a:Answer)
      WHERE a.generatedAt < $instant } AS cited
  RETURN count(d) AS datasets, count(CASE WHEN produced OR read THEN 1 END) AS connected,
    count(CASE WHEN produced AND NOT read AND NOT cited THEN 1 END) AS unread
}
CALL (datasets) {
  MATCH (j:Job)
  WHERE j.firstSeen < $instant AND coalesce(j.deletedAt >= $instant, true)
    AND NOT EXISTS { (:Job)-[:PART_OF]->(j) }
  WITH j, EXISTS { MATCH ()-[f:FEEDS]->(j) WHERE f.firstSeen < $instant } AS reads,
    EXISTS { MATCH (j)-[p:PRODUCED|FEEDS]->() WHERE p.firstSeen < $instant } AS makes
  WHERE makes OR j.type IS NULL OR j.type <> 'RDD_JOB'
  RETURN count(j) AS jobs, count(CASE WHEN reads AND makes THEN 1 END) AS complete
}
RETURN datasets, connected, unread, jobs, complete
