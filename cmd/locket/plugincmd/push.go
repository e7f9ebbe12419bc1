package plugincmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/wasm/bundle"
	plugsource "github.com/locket-dev/locket/wasm/source"
)

func pushCommand(a *cli.App) *cobra.Command {
	var net plugsource.Options
	c := &cobra.Command{
		Use: "push FILE oci://REGISTRY/REPOSITORY:TAG", Short: "Upload a signed plugin to an OCI registry", Args: cli.ArgsBetween(2, 2, "a signed file or where it goes"),
		Long: `Others install it with the same reference, or with the digest that is printed, which names
exactly this file. The registry must accept artifacts, as most do.`,
		Example: `  locket plugin push ann-parking-1.0.0.locket-plugin oci://registry.example.org/ann/parking:1.0.0 --logins ~/.netrc`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := bundle.ReadPath(args[0])
			if err != nil {
				return notBuilt(args[0], err)
			}
			digest, err := plugsource.Push(cmd.Context(), args[1], b, net)
			if err != nil {
				return insecureAdvice(err)
			}
			done := struct {
				Reference string `json:"reference"`
				Digest    string `json:"digest"`
			}{args[1], digest}
			return a.Print(done, func(w io.Writer) {
				fmt.Fprintf(w, "Pushed to %s\nDigest: %s\n", cli.OneLine(done.Reference), done.Digest)
			})
		},
	}
	insecureFlag(c, &net)
	return c
}
