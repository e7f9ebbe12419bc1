package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/version"
)

// Set by the linker: -X main.release=v0.1.0 -X main.commit=… -X main.builtAt=….
// What is not set is taken from what Go itself notes of a checkout.
var (
	release string
	commit  string
	builtAt string
)

func thisBuild() version.Build { return version.Of(release, commit, builtAt) }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print release, commit and build", Args: nothing(),
		RunE: func(*cobra.Command, []string) error {
			v := thisBuild()
			return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "locket %s\n", v) })
		},
	}
}
