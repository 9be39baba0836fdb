// Return the definition of one tag.
// access: read
// params: $urn STRING
// returns: name, description
// example: headwater cypher read/catalog/tag --param urn=tag:pii
MATCH (t:Tag {urn: $urn})
WHERE t.defined
RETURN t.name AS name, t.description AS description
