// Return the complete versions of a time window whose schema differs from that of the version
// before, newest first, with the hash of that schema. This is a scan over all datasets, for those
// that have had several schemas.
// access: read
// params: $since DATETIME, $until DATETIME, $namespace STRING = "", $visible LIST<STRING> = null,
//   $limit INTEGER = 1000
// returns: urn, at, dataset, drift, before, after
// example: headwater cypher read/estate/schema_changes --param since=2026-01-01T00:00:00Z
//   --param until=2027-01-01T00:00:00Z
MATCH (d:Dataset)
WHERE COUNT { (d)-[:HAS_SCHEMA]->() } > 1 AND ($namespace = '' OR d.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
MATCH (a:Artifact)
USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt >= $since AND a.createdAt < $until
  AND size(a.drift) > 0
WITH a ORDER BY a.createdAt DESC, a.urn LIMIT $limit
RETURN a.urn AS urn, a.createdAt AS at, a.dataset AS dataset, a.drift AS drift, COLLECT {
  MATCH (p:Artifact)
  USING INDEX SEEK p:Artifact(dataset, complete, createdAt)
  WHERE p.dataset = a.dataset AND p.complete = true AND p.createdAt < a.createdAt
    AND p.schemaHash IS NOT NULL
  RETURN p.schemaHash ORDER BY p.dataset DESC, p.complete DESC, p.createdAt DESC, p.urn DESC LIMIT 1
}[0] AS before, a.schemaHash AS after
ORDER BY at DESC, urn
