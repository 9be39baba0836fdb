// Return the runs that run after the given ones, up to four triggers downstream.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: headwater cypher read/versions/triggered_runs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (:PipelineRun {urn: urn})-[:TRIGGERS]->{1,4}(consumer:PipelineRun)
RETURN DISTINCT consumer.urn AS urn
