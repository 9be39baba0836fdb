// Generate TypeScript types from the introspection of a server, as graphql-codegen does for its users.
// Usage: node codegen.mjs URL
import { codegen } from "@graphql-codegen/core";
import * as typescript from "@graphql-codegen/typescript";
import * as operations from "@graphql-codegen/typescript-operations";
import { buildClientSchema, getIntrospectionQuery, parse, printSchema, version } from "graphql";

const DOCUMENT = `
  query Runs($status: RunStatus, $first: Int, $after: String) {
    runs(status: $status, first: $first, after: $after) {
      edges { cursor node { id runId status startedAt } }
      totalCount
      pageInfo { hasNextPage endCursor }
    }
  }
  query Refetch($id: ID!) { node(id: $id) { id ... on PipelineRun { runId } } }
`;

const [url] = process.argv.slice(2);
const query = getIntrospectionQuery({
  specifiedByUrl: true,
  inputValueDeprecation: true,
  directiveIsRepeatable: true,
});
const response = await fetch(url, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ query }),
});
const { data } = await response.json();
const schemaAst = buildClientSchema(data);
const types = await codegen({
  filename: "types.ts",
  schema: parse(printSchema(schemaAst)),
  schemaAst,
  documents: [{ location: "runs.graphql", document: parse(DOCUMENT) }],
  plugins: [{ typescript: {} }, { operations: {} }],
  pluginMap: { typescript, operations },
  config: {},
});
console.log(JSON.stringify({ version, types }));
