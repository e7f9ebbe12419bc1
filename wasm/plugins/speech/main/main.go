//go:build wasip1

// Command main is the speech extractor as a plugin.
package main

import (
	"github.com/locket-dev/locket/wasm/guest"
	"github.com/locket-dev/locket/wasm/plugins/speech"
)

func init() { guest.Register(speech.New().Extract) }

func main() {}
