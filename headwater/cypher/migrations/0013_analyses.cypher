// One node for each line that an analysis of the lake found.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT analysis_urn IF NOT EXISTS FOR (n:Analysis) REQUIRE n.urn IS UNIQUE;
