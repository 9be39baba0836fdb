// What changed on the map since a revision, for the processes that hold it in memory.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE RANGE INDEX dataset_map_revision IF NOT EXISTS FOR (n:Dataset) ON (n.mapRevision);
CREATE RANGE INDEX job_map_revision IF NOT EXISTS FOR (n:Job) ON (n.mapRevision);
CREATE RANGE INDEX symlink_map_revision IF NOT EXISTS FOR (n:Symlink) ON (n.mapRevision);
