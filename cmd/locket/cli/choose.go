package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/node/serve"
)

// Types are the values of a flag that takes a type of memories. All types but the vault can be
// shared, and an app can also see what was said.
var (
	Types     = []string{"core", "episodic", "semantic", "procedural", "resource", "vault"}
	OpenTypes = []string{"core", "episodic", "semantic", "procedural", "resource"}
	AppTypes  = []string{"core", "episodic", "semantic", "procedural", "resource", serve.AppUtterances}
)

// AppRights are the values of a flag that says what an app may do.
var AppRights = []string{"read", "add", "update", "forget", "chat", "buy", "share", "vault"}

// Choose restricts a flag that is already defined to these words.
func Choose(f *pflag.FlagSet, flag string, words ...string) {
	known := f.Lookup(flag)
	known.Value = choice{known.Value, words}
}

// choice is the value of a flag that accepts only some words.
type choice struct {
	pflag.Value
	words []string
}

func (c choice) Set(s string) error {
	for _, w := range strings.Split(s, ",") {
		if w != "" && !slices.Contains(c.words, w) {
			last := len(c.words) - 1
			return fmt.Errorf("want %s or %s", strings.Join(c.words[:last], ", "), c.words[last])
		}
	}
	return c.Value.Set(s)
}
