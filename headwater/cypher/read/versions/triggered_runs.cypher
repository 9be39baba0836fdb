// The runs that were to run after these, up to four on: what triggered these triggered them.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: headwater cypher read/versions/triggered_runs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (:PipelineRun {urn: urn})-[:TRIGGERS]->{1,4}(consumer:PipelineRun)
RETURN DISTINCT consumer.urn AS urn
