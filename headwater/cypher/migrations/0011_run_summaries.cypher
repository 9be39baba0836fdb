// One summary per job, day, status and set of versions, and one node for what is kept how long.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT run_summary_urn IF NOT EXISTS FOR (n:RunSummary) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT retention_name IF NOT EXISTS FOR (n:Retention) REQUIRE n.name IS UNIQUE;
