// Return the nodes with an open finding of the given rules.
// access: read
// params: $rules LIST<STRING>
// returns: subject
// example: headwater cypher read/findings/open_subjects --param rules=missing-run,stale-dataset
MATCH (f:Finding)
WHERE f.isOpen = true AND f.lastSeen IS NOT NULL AND f.rule IN $rules
RETURN DISTINCT f.subject AS subject
