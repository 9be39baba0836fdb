// Return the roots of the findings of these nodes that were resolved since an instant.
// access: read
// params: $subjects LIST<STRING>, $since DATETIME
// returns: root
// example: run by `headwater detect`
MATCH (f:Finding)
WHERE f.subject IN $subjects AND f.isOpen = false AND f.resolvedAt >= $since
RETURN DISTINCT f.root AS root
