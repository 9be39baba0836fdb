// Return the data sources of all datasets: the name that a producer gives to a location, or the
// namespace without one. $name selects one. This is a scan over all datasets.
// access: read
// params: $name STRING, $visible LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: name, uri, first, last
// example: headwater cypher read/catalog/data_sources --param name=null --param visible=null
MATCH (d:Dataset)
WHERE $visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p)
WITH coalesce(d.sourceName, d.namespace) AS name, coalesce(d.sourceUri, d.namespace) AS uri, d
WHERE $name IS NULL OR name = $name
RETURN name, max(uri) AS uri, min(d.firstSeen) AS first, max(d.lastSeen) AS last
ORDER BY name
SKIP $skip LIMIT $limit
