// Package docs carries the documents that the binaries show.
package docs

import (
	_ "embed" // for OpenAPI
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ../node/serve/openapi openapi.yaml memory.schema.json
//go:embed openapi.yaml.zst
var openAPI []byte

// OpenAPI describes the node's local HTTP API (OpenAPI 3.1, YAML). It is made
// from the table of routes in package serve, and embedded compressed, because it
// takes 190 kB otherwise.
var OpenAPI = sync.OnceValue(func() string {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // the options are right
	}
	defer d.Close()
	b, err := d.DecodeAll(openAPI, nil)
	if err != nil {
		panic(err) // it is embedded, and a test reads it
	}
	return string(b)
})
