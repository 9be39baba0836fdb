// One node for the first receipt of each event that has no event time or one in the future.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT receipt_urn IF NOT EXISTS FOR (n:Receipt) REQUIRE n.urn IS UNIQUE;
CREATE INDEX receipt_event_time IF NOT EXISTS FOR (n:Receipt) ON (n.eventTime);
