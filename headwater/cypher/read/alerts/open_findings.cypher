// Return all open findings.
// access: read
// params: none
// returns: properties
// example: run by `headwater detect`
MATCH (f:Finding)
WHERE f.isOpen = true AND f.lastSeen IS NOT NULL
RETURN properties(f) AS properties
