package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/version"
)

// linked is what the linker set, as main has it. What is empty is taken from what Go itself
// notes of a checkout.
var linked struct {
	release, commit, builtAt string
	key                      string // by which releases are signed, as minisign writes it
}

// thisBuild says which program this is.
func thisBuild() version.Build { return version.Of(linked.release, linked.commit, linked.builtAt) }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print release, commit and build", Args: nothing(),
		RunE: func(*cobra.Command, []string) error {
			v := thisBuild()
			return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "locket %s\n", v) })
		},
	}
}
