//go:build wasip1

// Command main is every extractor that reads text, in one module: as machine
// code a plugin in Go takes 10 MB, most of it Go's own runtime. Which of them
// an instance is follows from the name under which the host runs it, and what
// it may do from its manifest.
package main

import (
	"errors"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/guest"
	"github.com/locket-dev/locket/wasm/plugins/facts"
	"github.com/locket-dev/locket/wasm/plugins/howto"
	"github.com/locket-dev/locket/wasm/plugins/language"
	"github.com/locket-dev/locket/wasm/plugins/plans"
	"github.com/locket-dev/locket/wasm/plugins/secrets"
)

func init() {
	switch name := guest.Name(); name {
	case "facts":
		guest.Register(facts.Extract)
	case "howto":
		guest.Register(howto.Extract)
	case "language":
		guest.Register(language.Extract)
	case "plans":
		guest.Register(plans.Extract)
	case "secrets":
		guest.Register(secrets.New().Extract)
	default:
		guest.Register(func(*abi.Event, *abi.Output) error {
			return errors.New("this module has no extractor " + name)
		})
	}
}

func main() {}
