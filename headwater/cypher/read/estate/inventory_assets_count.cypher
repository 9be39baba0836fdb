// Count the datasets that read/estate/inventory_assets lists on all pages. This is a scan over all
// datasets, to find the listed.
// access: read
// params: $inventory STRING = "", $gaps BOOLEAN = false, $visible LIST<STRING> = null
// returns: count
// example: headwater inventory gaps
MATCH (d:Dataset)
WHERE d.inventories IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($inventory = '' OR $inventory IN d.inventories)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
  AND NOT ($gaps AND (EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
    OR EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current }
    OR EXISTS { MATCH (d)-[f:FEEDS]->(:Job|Dataset) WHERE f.current }))
RETURN count(d) AS count
