// Return a page of the datasets with at least $columnsMin columns, in the order of their urns.
// Dropped and deleted ones are left out. $certified: only those with a tag certified or canonical.
// $visible: regular expressions of namespaces; null: any.
// access: read
// params: $after STRING = "", $columnsMin INTEGER = 2, $certified BOOLEAN = false,
//   $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn, columns, tags, deprecated
// example: headwater cypher read/governance/dataset_columns
MATCH (d:Dataset)
WHERE d.urn > $after AND size(d.columns) >= $columnsMin
  AND d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND (NOT $certified OR any(t IN d.tags
    WHERE toLower(t) STARTS WITH 'certified' OR toLower(t) STARTS WITH 'canonical'))
RETURN d.urn AS urn, d.columns AS columns, coalesce(d.tags, []) AS tags,
  d.deprecatedAt IS NOT NULL AS deprecated
ORDER BY d.urn LIMIT $limit
