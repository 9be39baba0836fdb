// Return the contracts about visible datasets, by urn and id, after a position. With $urn those
// about this dataset, with $contract those of this id.
// access: read
// params: $urn STRING = "", $contract STRING = "", $visible LIST<STRING> = null,
//   $afterUrn STRING = "", $afterContract STRING = "", $limit INTEGER = 20
// returns: urn, contract
// example: headwater contract list
MATCH (d:Dataset)
WHERE d.contracts IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
  AND ($urn = '' OR d.urn = $urn) AND d.urn >= $afterUrn
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
UNWIND d.contracts AS contract
WITH d.urn AS urn, contract
WHERE ($contract = '' OR contract = $contract)
  AND (urn > $afterUrn OR contract > $afterContract)
RETURN urn, contract
ORDER BY urn, contract
LIMIT $limit
