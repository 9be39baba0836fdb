// Rename properties to plain terms, by one scan of each label and type. Each statement commits every 10,000 rows, so
// memory stays bounded in a graph of millions. A second run finds only the rows that still have an old name: an
// interrupted migration continues there. Indexes on old names are dropped first and built again on the new names
// last.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
DROP INDEX run_of_aside IF EXISTS;
DROP INDEX version_of_aside IF EXISTS;
DROP INDEX feeds_wanted IF EXISTS;
DROP INDEX feeds_quality IF EXISTS;
DROP INDEX feeds_checked IF EXISTS;
DROP INDEX feeds_updated IF EXISTS;
DROP INDEX feeds_failing IF EXISTS;
DROP INDEX produced_quality IF EXISTS;
DROP INDEX pipeline_run_told IF EXISTS;
DROP INDEX pipeline_run_heard IF EXISTS;
DROP INDEX artifact_begun_long IF EXISTS;
DROP INDEX dataset_map_revision IF EXISTS;
DROP INDEX job_map_revision IF EXISTS;
DROP INDEX symlink_map_revision IF EXISTS;
MATCH (r:PipelineRun)
WHERE r.told IS NOT NULL OR r.heardAt IS NOT NULL OR r.silent IS NOT NULL
CALL (r) {
  SET r.reportedSides = coalesce(r.reportedSides, r.told),
      r.lastHeartbeatAt = coalesce(r.lastHeartbeatAt, r.heardAt),
      r.heartbeatLost = coalesce(r.heartbeatLost, r.silent)
  REMOVE r.told, r.heardAt, r.silent
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (a:Artifact)
WHERE a.begunAt IS NOT NULL
CALL (a) {
  SET a.longRunningSince = coalesce(a.longRunningSince, a.begunAt)
  REMOVE a.begunAt
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Dataset)
WHERE n.mapRevision IS NOT NULL
CALL (n) {
  SET n.lineageRevision = coalesce(n.lineageRevision, n.mapRevision)
  REMOVE n.mapRevision
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Job)
WHERE n.mapRevision IS NOT NULL
CALL (n) {
  SET n.lineageRevision = coalesce(n.lineageRevision, n.mapRevision)
  REMOVE n.mapRevision
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Symlink)
WHERE n.mapRevision IS NOT NULL
CALL (n) {
  SET n.lineageRevision = coalesce(n.lineageRevision, n.mapRevision)
  REMOVE n.mapRevision
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Producer)
WHERE n.tally IS NOT NULL OR n.fromTheFuture IS NOT NULL
CALL (n) {
  SET n.statistics = coalesce(n.statistics, n.tally),
      n.futureEvents = coalesce(n.futureEvents, n.fromTheFuture)
  REMOVE n.tally, n.fromTheFuture
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Finding)
WHERE n.tally IS NOT NULL OR n.receipt IS NOT NULL
CALL (n) {
  SET n.statistics = coalesce(n.statistics, n.tally),
      n.sequence = coalesce(n.sequence, n.receipt)
  REMOVE n.tally, n.receipt
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Analysis)
WHERE n.until IS NOT NULL OR n.analysed IS NOT NULL
CALL (n) {
  SET n.newestEventAt = coalesce(n.newestEventAt, n.until),
      n.analysedAt = coalesce(n.analysedAt, n.analysed)
  REMOVE n.until, n.analysed
} IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Retention)
WHERE n.late IS NOT NULL
CALL (n) {
  SET n.lateRuns = coalesce(n.lateRuns, n.late)
  REMOVE n.late
} IN TRANSACTIONS OF 10000 ROWS;
MATCH ()-[e:RUN_OF]->()
WHERE e.aside IS NOT NULL
CALL (e) {
  SET e.indexedUnder = coalesce(e.indexedUnder, e.aside)
  REMOVE e.aside
} IN TRANSACTIONS OF 10000 ROWS;
MATCH ()-[e:VERSION_OF]->()
WHERE e.aside IS NOT NULL
CALL (e) {
  SET e.indexedUnder = coalesce(e.indexedUnder, e.aside)
  REMOVE e.aside
} IN TRANSACTIONS OF 10000 ROWS;
MATCH ()-[e:FEEDS]->()
WHERE e.sentAs IS NOT NULL OR e.ways IS NOT NULL OR e.wanted IS NOT NULL OR e.saidAt IS NOT NULL
CALL (e) {
  SET e.reportedUrns = coalesce(e.reportedUrns, e.sentAs),
      e.transformations = coalesce(e.transformations, e.ways),
      e.requestedVersion = coalesce(e.requestedVersion, e.wanted),
      e.reportedAt = coalesce(e.reportedAt, e.saidAt),
      e.qualityDataset = coalesce(e.qualityDataset, e.quality),
      e.checkedVersion = coalesce(e.checkedVersion, e.checked),
      e.updatedVersion = coalesce(e.updatedVersion, e.updated),
      e.failingVersion = coalesce(e.failingVersion, e.failing)
  REMOVE e.sentAs, e.ways, e.wanted, e.saidAt, e.quality, e.checked, e.updated, e.failing
} IN TRANSACTIONS OF 10000 ROWS;
MATCH ()-[e:PRODUCED]->()
WHERE e.sentAs IS NOT NULL OR e.claimed IS NOT NULL OR e.saidAt IS NOT NULL
CALL (e) {
  SET e.reportedUrns = coalesce(e.reportedUrns, e.sentAs),
      e.assertedByDataset = coalesce(e.assertedByDataset, e.claimed),
      e.reportedAt = coalesce(e.reportedAt, e.saidAt),
      e.qualityDataset = coalesce(e.qualityDataset, e.quality)
  REMOVE e.sentAs, e.claimed, e.saidAt, e.quality
} IN TRANSACTIONS OF 10000 ROWS;
MATCH ()-[e:DERIVED_FROM]->()
WHERE e.sentAs IS NOT NULL OR e.ways IS NOT NULL
CALL (e) {
  SET e.reportedUrns = coalesce(e.reportedUrns, e.sentAs),
      e.evidence = coalesce(e.evidence, e.ways)
  REMOVE e.sentAs, e.ways
} IN TRANSACTIONS OF 10000 ROWS;
CREATE INDEX run_of_indexed_under IF NOT EXISTS FOR ()-[e:RUN_OF]-() ON (e.indexedUnder);
CREATE INDEX version_of_indexed_under IF NOT EXISTS FOR ()-[e:VERSION_OF]-() ON (e.indexedUnder);
CREATE INDEX feeds_requested_version IF NOT EXISTS FOR ()-[e:FEEDS]-() ON (e.requestedVersion);
CREATE INDEX feeds_quality_dataset IF NOT EXISTS
  FOR ()-[e:FEEDS]-() ON (e.qualityDataset, e.reportedAt);
CREATE INDEX feeds_checked_version IF NOT EXISTS
  FOR ()-[e:FEEDS]-() ON (e.checkedVersion, e.reportedAt);
CREATE INDEX feeds_updated_version IF NOT EXISTS
  FOR ()-[e:FEEDS]-() ON (e.updatedVersion, e.reportedAt);
CREATE INDEX feeds_failing_version IF NOT EXISTS
  FOR ()-[e:FEEDS]-() ON (e.failingVersion, e.reportedAt);
CREATE INDEX produced_quality_dataset IF NOT EXISTS
  FOR ()-[e:PRODUCED]-() ON (e.qualityDataset, e.reportedAt);
CREATE INDEX pipeline_run_reported_sides IF NOT EXISTS
  FOR (n:PipelineRun) ON (n.namespace, n.pipelineName, n.reportedSides, n.finishedAt);
CREATE INDEX pipeline_run_heartbeat IF NOT EXISTS FOR (n:PipelineRun) ON (n.status, n.lastHeartbeatAt);
CREATE INDEX artifact_long_running IF NOT EXISTS FOR (n:Artifact) ON (n.dataset, n.longRunningSince);
CREATE RANGE INDEX dataset_lineage_revision IF NOT EXISTS FOR (n:Dataset) ON (n.lineageRevision);
CREATE RANGE INDEX job_lineage_revision IF NOT EXISTS FOR (n:Job) ON (n.lineageRevision);
CREATE RANGE INDEX symlink_lineage_revision IF NOT EXISTS FOR (n:Symlink) ON (n.lineageRevision);
