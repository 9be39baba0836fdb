// Return the current columns of all datasets by name. Dropped and deleted datasets are left out.
// This is a scan over all datasets.
// access: read
// params: $limit INTEGER = 50000
// returns: urn, columns
// example: headwater personal-data --suggested
MATCH (d:Dataset)
WHERE d.columns IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
RETURN d.urn AS urn, d.columns AS columns
ORDER BY urn
LIMIT $limit
