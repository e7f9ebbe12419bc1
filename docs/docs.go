// Package docs carries the documents that the binaries show.
package docs

import _ "embed" // for OpenAPI

// OpenAPI describes the node's local HTTP API (OpenAPI 3.1, YAML).
//
//go:embed openapi.yaml
var OpenAPI string
