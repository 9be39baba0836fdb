// One node for the definition of each tag.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT tag_urn IF NOT EXISTS FOR (n:Tag) REQUIRE n.urn IS UNIQUE;
CREATE INDEX tag_name IF NOT EXISTS FOR (n:Tag) ON (n.name);
