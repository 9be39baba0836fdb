// Return the inventories with the number of visible datasets that each lists, and of those without
// lineage: no job reads or writes them now. This is a scan over all datasets, to find the listed.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: inventory, datasets, gaps
// example: headwater inventory list
MATCH (d:Dataset)
WHERE d.inventories IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d.inventories AS inventories,
  NOT EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
    AND NOT EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current }
    AND NOT EXISTS { MATCH (d)-[f:FEEDS]->(:Job|Dataset) WHERE f.current } AS gap
UNWIND inventories AS inventory
RETURN inventory, count(*) AS datasets, count(CASE WHEN gap THEN 1 END) AS gaps
ORDER BY inventory
LIMIT $limit
