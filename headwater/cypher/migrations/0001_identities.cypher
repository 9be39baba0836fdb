// One node per urn, whatever the order or the number of writers: without these constraints two writers that MERGE
// the same key make two nodes.
// access: schema
// params: none
// returns: nothing
// example: headwater migrate
CREATE CONSTRAINT dataset_urn IF NOT EXISTS FOR (n:Dataset) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT job_urn IF NOT EXISTS FOR (n:Job) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT pipeline_run_urn IF NOT EXISTS FOR (n:PipelineRun) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT source_urn IF NOT EXISTS FOR (n:Source) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT artifact_urn IF NOT EXISTS FOR (n:Artifact) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT answer_urn IF NOT EXISTS FOR (n:Answer) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT column_urn IF NOT EXISTS FOR (n:Column) REQUIRE n.urn IS UNIQUE;
CREATE CONSTRAINT checkpoint_spool IF NOT EXISTS FOR (n:Checkpoint) REQUIRE n.spool IS UNIQUE;
CREATE CONSTRAINT write_lock_name IF NOT EXISTS FOR (n:WriteLock) REQUIRE n.name IS UNIQUE;
CREATE CONSTRAINT migration_name IF NOT EXISTS FOR (n:Migration) REQUIRE n.name IS UNIQUE;
