// One node for each detected finding, and one for the state of the detector. The rules that producers break get the
// label ConformanceFinding, by one scan of the old one in batches; a second run finds only the nodes that still have
// it, because a detected finding has no producer.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT conformance_finding_urn IF NOT EXISTS FOR (n:ConformanceFinding) REQUIRE n.urn IS UNIQUE;
CREATE INDEX conformance_finding_producer IF NOT EXISTS FOR (n:ConformanceFinding) ON (n.producer);
DROP INDEX finding_producer IF EXISTS;
MATCH (n:Finding)
WHERE n.producer IS NOT NULL
CALL (n) {
  SET n:ConformanceFinding
  REMOVE n:Finding
} IN TRANSACTIONS OF 10000 ROWS;
CREATE INDEX finding_subject IF NOT EXISTS FOR (n:Finding) ON (n.subject);
CREATE INDEX finding_open IF NOT EXISTS FOR (n:Finding) ON (n.isOpen, n.lastSeen);
CREATE INDEX finding_rule IF NOT EXISTS FOR (n:Finding) ON (n.rule, n.lastSeen);
CREATE INDEX finding_root IF NOT EXISTS FOR (n:Finding) ON (n.root);
CREATE INDEX finding_changed_at IF NOT EXISTS FOR (n:Finding) ON (n.changedAt);
CREATE CONSTRAINT detector_name IF NOT EXISTS FOR (n:Detector) REQUIRE n.name IS UNIQUE;
CREATE INDEX dataset_facts_revision IF NOT EXISTS FOR (n:Dataset) ON (n.factsRevision);
CREATE INDEX job_facts_revision IF NOT EXISTS FOR (n:Job) ON (n.factsRevision);
CREATE INDEX answer_facts_revision IF NOT EXISTS FOR (n:Answer) ON (n.factsRevision);
