// Query a server with Apollo Client, urql and graphql-ws, and print what each of them received.
// Usage: node clients.mjs URL
import { createHash } from "node:crypto";

import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { relayStylePagination } from "@apollo/client/utilities";
import { Client, cacheExchange, fetchExchange } from "@urql/core";
import { createClient } from "graphql-ws";
import WebSocket from "ws";

const [url] = process.argv.slice(2);
const RUNS = `
  query Runs($first: Int, $after: String) {
    runs(first: $first, after: $after) {
      edges { cursor node { id runId status job { id name } } }
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`;

async function apollo() {
  const methods = [];
  const hashed = new PersistedQueryLink({
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    useGETForHashedQueries: true,
  });
  const http = new HttpLink({
    uri: url,
    fetch: (address, options) => {
      methods.push(options.method);
      return fetch(address, options);
    },
  });
  const typePolicies = { Query: { fields: { runs: relayStylePagination() } } };
  const cache = new InMemoryCache({ typePolicies });
  const client = new ApolloClient({ link: hashed.concat(http), cache });
  const query = gql(RUNS);
  const watched = client.watchQuery({ query, variables: { first: 2 } });
  const subscription = watched.subscribe(() => {});
  const first = await client.query({ query, variables: { first: 2 } });
  const after = first.data.runs.pageInfo.endCursor;
  await watched.fetchMore({ variables: { first: 2, after } });
  const merged = client.readQuery({ query, variables: { first: 2 } });
  subscription.unsubscribe();
  return {
    methods,
    keys: Object.keys(cache.extract()).sort(),
    runs: merged.runs.edges.map((edge) => edge.node.runId),
  };
}

async function urql() {
  const client = new Client({
    url,
    exchanges: [cacheExchange, fetchExchange],
    preferGetMethod: true,
  });
  const found = await client.query(RUNS, { first: 1 }).toPromise();
  const missing = await client
    .query(`{ trace(answerId: "none") { answer { id } } runs(first: 1) { totalCount } }`, {})
    .toPromise();
  return {
    method: found.operation.context.preferGetMethod,
    runs: found.data.runs.edges.map((edge) => edge.node.runId),
    error: found.error?.message ?? null,
    missing: { data: missing.data, codes: missing.error.graphQLErrors.map((one) => one.extensions.code) },
  };
}

async function subscribed() {
  const client = createClient({ url: url.replace("http", "ws"), webSocketImpl: WebSocket });
  const refused = await new Promise((resolve, reject) => {
    client.subscribe(
      { query: "subscription { failures(unknown: 1) { id } }" },
      { next: reject, error: resolve, complete: reject },
    );
  });
  await client.dispose();
  return refused.map((error) => error.message);
}

console.log(
  JSON.stringify({ apollo: await apollo(), urql: await urql(), subscribed: await subscribed() }),
);
process.exit(0);
