// One node for the samples of each service level in each hour, by the process that records them.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT service_level_sample_urn IF NOT EXISTS FOR (n:ServiceLevelSample) REQUIRE n.urn IS UNIQUE;
CREATE INDEX service_level_sample_hour IF NOT EXISTS FOR (n:ServiceLevelSample) ON (n.serviceLevel, n.hour);
CREATE INDEX service_level_sample_by_hour IF NOT EXISTS FOR (n:ServiceLevelSample) ON (n.hour);
