// Return the names of all indexes of this database; a constraint has an index of its own name.
// access: read
// params: none
// returns: name
// example: headwater cypher read/state/index_names
SHOW INDEXES YIELD name
RETURN name
ORDER BY name
