// One node per producer and one per finding of it, and the findings of a producer without looking at all of them.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT producer_urn IF NOT EXISTS FOR (n:Producer) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT finding_urn IF NOT EXISTS FOR (n:Finding) REQUIRE n.urn IS UNIQUE;
CREATE INDEX finding_producer IF NOT EXISTS FOR (n:Finding) ON (n.producer);
CREATE INDEX producer_name IF NOT EXISTS FOR (n:Producer) ON (n.producer);
