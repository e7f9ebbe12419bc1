//go:build wasip1

// Command main is the secrets extractor as a plugin.
package main

import (
	"github.com/locket-dev/locket/wasm/guest"
	"github.com/locket-dev/locket/wasm/plugins/secrets"
)

func init() { guest.Register(secrets.New().Extract) }

func main() {}
