// Package serve is a node's local HTTP API and its client.
//
//   - A [Service] is what a node can do; package node implements it, and this
//     package only calls it.
//   - A handler, made by New, speaks docs/openapi.yaml over a Service. It
//     checks requests, resolves abbreviated ids, and turns errors into
//     problems (RFC 9457) of stable types.
//   - A Client speaks to a handler: over the daemon's socket or TCP address,
//     or in this process without either, which is why a command has one way
//     of doing things, whether a daemon runs or not.
//
// Texts, queries and keys are never logged.
package serve
