// Return the visible datasets that an inventory lists (any, if $inventory is empty), by urn; with
// $gaps only those that no job reads or writes now. This is a scan over all datasets, to find the
// listed.
// access: read
// params: $inventory STRING = "", $gaps BOOLEAN = false, $visible LIST<STRING> = null,
//   $cursor STRING = "", $limit INTEGER = 20
// returns: urn, hasLineage, inventories
// example: headwater inventory gaps
MATCH (d:Dataset)
WHERE d.inventories IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($inventory = '' OR $inventory IN d.inventories) AND d.urn > $cursor
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d.urn AS urn, d.inventories AS inventories,
  EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
    OR EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current }
    OR EXISTS { MATCH (d)-[f:FEEDS]->(:Job|Dataset) WHERE f.current } AS hasLineage
WHERE NOT ($gaps AND hasLineage)
RETURN urn, hasLineage, inventories
ORDER BY urn
LIMIT $limit
