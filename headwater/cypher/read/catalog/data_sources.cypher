// Where datasets are, by the names that their producers give such places, or by their namespace where none was given.
// `name` asks for one. Scans all datasets.
// access: read
// params: $name STRING, $sees LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: name, uri, first, last
// example: headwater cypher read/catalog/data_sources --param name=null --param sees=null
MATCH (d:Dataset)
WHERE $sees IS NULL OR any(p IN $sees WHERE d.namespace =~ p)
WITH coalesce(d.sourceName, d.namespace) AS name, coalesce(d.sourceUri, d.namespace) AS uri, d
WHERE $name IS NULL OR name = $name
RETURN name, max(uri) AS uri, min(d.firstSeen) AS first, max(d.lastSeen) AS last
ORDER BY name
SKIP $skip LIMIT $limit
