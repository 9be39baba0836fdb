// Other names of datasets, schemas shared by hash, and indexes for what is judged over several runs: the newest run of
// a job that succeeded, the attempts of a slot, the runs that have fallen silent, versions by the names their
// producers give them.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT symlink_urn IF NOT EXISTS FOR (n:Symlink) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT schema_version_urn IF NOT EXISTS FOR (n:SchemaVersion) REQUIRE n.urn IS UNIQUE;
CREATE INDEX artifact_named IF NOT EXISTS FOR (n:Artifact) ON (n.dataset, n.version);
CREATE INDEX feeds_wanted IF NOT EXISTS FOR ()-[e:FEEDS]-() ON (e.wanted);
CREATE INDEX pipeline_run_reader IF NOT EXISTS FOR (n:PipelineRun) ON (n.readerOf, n.finishedAt);
CREATE INDEX pipeline_run_writer IF NOT EXISTS FOR (n:PipelineRun) ON (n.writerOf, n.finishedAt);
CREATE INDEX pipeline_run_slot IF NOT EXISTS FOR (n:PipelineRun) ON (n.slot);
CREATE INDEX pipeline_run_heard IF NOT EXISTS FOR (n:PipelineRun) ON (n.status, n.heardAt);
