//go:build wasip1

// Command main is the scene extractor as a plugin.
package main

import (
	"github.com/locket-dev/locket/wasm/guest"
	"github.com/locket-dev/locket/wasm/plugins/scene"
)

func init() { guest.Register(scene.New().Extract) }

func main() {}
