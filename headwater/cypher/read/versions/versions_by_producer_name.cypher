// Return the versions of a dataset that have the given name of their producer, without the versions
// of the reading run itself.
// access: read
// params: $rows LIST<MAP>
// returns: consumer, dataset, versions
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Artifact)
USING INDEX SEEK a:Artifact(dataset, version)
WHERE a.dataset = row.dataset AND a.version = row.version
  AND NOT (a)<-[:PRODUCED]-({urn: row.consumer})
WITH row, a ORDER BY a.urn
RETURN row.consumer AS consumer, row.dataset AS dataset, collect(a.urn) AS versions
