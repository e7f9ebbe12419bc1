// Package docs carries the documents that the binaries show.
package docs

import _ "embed" // for OpenAPI

// OpenAPI describes the node's local HTTP API (OpenAPI 3.1, YAML). It is made
// from the table of routes in package serve.
//
//go:generate go run ../node/serve/openapi openapi.yaml
//go:embed openapi.yaml
var OpenAPI string
