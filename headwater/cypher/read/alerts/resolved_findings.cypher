// Return the resolved findings with these roots.
// access: read
// params: $roots LIST<STRING>
// returns: properties
// example: run by `headwater detect`
MATCH (f:Finding)
WHERE f.root IN $roots AND f.isOpen = false
RETURN properties(f) AS properties
