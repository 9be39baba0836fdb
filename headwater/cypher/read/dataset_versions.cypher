// The versions of some datasets, newest first, those that are being made before all; after the one that was made $at
// and goes by $behind.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $behind STRING = "", $limit INTEGER = 20
// returns: urn, listed
// example: headwater cypher read/dataset_versions --param urns=dataset:file:/raw/planes --param at=9999-12-31
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (a:Artifact)-[:VERSION_OF]->(d)
  WITH a, coalesce(a.createdAt, datetime('9999-12-31T00:00:00Z')) AS at
  WHERE at < $at OR (at = $at AND a.urn > $behind)
  RETURN {urn: a.urn, at: at} ORDER BY at DESC, a.urn LIMIT $limit
} AS listed
