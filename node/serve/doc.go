// Package serve is a node's local HTTP API and its client.
//
//   - [Services] is what a node can do: a narrow interface for each topic,
//     which this package only calls.
//   - A topic is a file: its interface, the types that cross the wire, its
//     routes, and the client's methods. A route is written once (route.go);
//     table.go has all topics.
//   - A handler, made by [New], serves the routes. It checks requests, resolves
//     abbreviated ids, and turns errors into problems (RFC 9457) of stable
//     types. docs/openapi.yaml is made from the same routes (openapi/).
//   - A [Client] speaks to a handler: over the daemon's socket or TCP address,
//     or in this process. So a command works in the same way with and without a
//     daemon.
//
// Texts, queries and keys are never logged.
package serve
