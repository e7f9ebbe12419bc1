package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print release, commit and build", Args: cli.NoArgs(),
		RunE: func(*cobra.Command, []string) error {
			v := cli.ThisBuild()
			return a.Print(v, func(w io.Writer) { fmt.Fprintf(w, "locket %s\n", v) })
		},
	}
}
