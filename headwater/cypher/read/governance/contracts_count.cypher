// Count the contracts that read/governance/contracts lists on all pages.
// access: read
// params: $urn STRING = "", $contract STRING = "", $visible LIST<STRING> = null
// returns: count
// example: headwater contract list
MATCH (d:Dataset)
WHERE d.contracts IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($urn = '' OR d.urn = $urn)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
UNWIND d.contracts AS contract
WITH contract
WHERE $contract = '' OR contract = $contract
RETURN count(*) AS count
