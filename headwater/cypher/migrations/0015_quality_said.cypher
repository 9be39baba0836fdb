// What runs said of the quality of what they read and wrote: on few edges among the million that one dataset may have,
// found by its dataset or by the version, in the order of when it was said. Of a graph that was made before, `headwater
// rebuild` makes one that has these marks.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX feeds_quality IF NOT EXISTS FOR ()-[e:FEEDS]-() ON (e.quality, e.saidAt);
CREATE INDEX produced_quality IF NOT EXISTS FOR ()-[e:PRODUCED]-() ON (e.quality, e.saidAt);
CREATE INDEX feeds_checked IF NOT EXISTS FOR ()-[e:FEEDS]-() ON (e.checked, e.saidAt);
CREATE INDEX feeds_updated IF NOT EXISTS FOR ()-[e:FEEDS]-() ON (e.updated, e.saidAt);
CREATE INDEX feeds_failing IF NOT EXISTS FOR ()-[e:FEEDS]-() ON (e.failing, e.saidAt);
