// Take out some runs. Of the versions they made those stay that something left still reads, with the mark that the run
// behind them was rolled up; `versions` are those, and those that the runs read: what nothing mentions of them can go.
// access: write
// params: $urns LIST<STRING>
// returns: versions
// example: run by `headwater pipeline rollup`
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
WITH r, [(v:Source|Artifact)-[:FEEDS]->(r) | v.urn] AS inputs, [(r)-[:PRODUCED]->(a:Artifact) | a] AS made
FOREACH (a IN made | SET a.rolledUp = true REMOVE a.status)
WITH r, inputs + [a IN made | a.urn] AS touched
DETACH DELETE r
WITH touched
UNWIND touched AS version
RETURN collect(DISTINCT version) AS versions
