//go:build wasip1

// Command main is the facts extractor as a plugin.
package main

import (
	"github.com/locket-dev/locket/wasm/guest"
	"github.com/locket-dev/locket/wasm/plugins/facts"
)

func init() { guest.Register(facts.New().Extract) }

func main() {}
