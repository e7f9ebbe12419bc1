//go:build wasip1

// Command main contains every extractor that reads text, in one module, because the
// machine code of a plugin in Go takes 10 MB, most of it Go's own runtime. The name under
// which the host runs an instance says which extractor it is, and its manifest what it may
// do.
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
