package wasm

import "embed"

// SDK is the source of packages abi and guest, which a plugin in Go links:
// a new one gets a copy, and needs nothing from the network to be built.
//
//go:embed abi/abi.go abi/candidate.go abi/decode.go abi/encode.go abi/errors.go abi/event.go abi/field.go abi/limits.go abi/output.go abi/place.go
//go:embed guest/doc.go guest/guest.go guest/host.go
var SDK embed.FS
