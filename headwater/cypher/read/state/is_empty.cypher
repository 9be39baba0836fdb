// Return true if this database has no node at all.
// access: read
// params: none
// returns: empty
// example: headwater cypher read/state/is_empty
MATCH ()
RETURN count(*) = 0 AS empty
