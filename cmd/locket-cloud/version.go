package main

import (
	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/version"
)

// Set by the linker in releases: -X main.release=v0.1.0 -X main.commit=… -X main.builtAt=….
var (
	release string
	commit  string
	builtAt string
)

func thisBuild() version.Build { return version.Of(release, commit, builtAt) }

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print release, commit and build", Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return a.print(b, "locket-cloud %s", b)
		},
	}
}
