package recallcmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/serve"
)

func MediaCommand(a *cli.App) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "media ID --out FILE", Short: "Save the recording or photo behind a memory", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `A resource memory (locket list --type resource) stands for a recording, a photo, or a file
from another program. If the file is on another device of yours, it is fetched
through the relay, checked, and also kept here.`,
		Example: "  locket media 3f7k9m2xqa --out heron.jpg\n  locket media 3f7k9m2xqa --out - | feh -",
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return errors.New("--out is missing: give --out FILE, or --out - for standard output")
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if to == "-" {
					_, _, err := cl.Media(cmd.Context(), args[0], a.Stdout)
					return err
				}
				return saveMedia(a, to, func(w io.Writer) (string, int64, error) { return cl.Media(cmd.Context(), args[0], w) })
			})
		},
	}
	c.Flags().StringVarP(&to, "out", "o", "", "write to `FILE`, which must not exist; - is standard output")
	return c
}

// savedMedia is what --json prints.
type savedMedia struct {
	File string `json:"file"`
	Type string `json:"type"`
	Size int64  `json:"size"`
}

// saveMedia writes a file completely or not at all.
func saveMedia(a *cli.App, to string, get func(io.Writer) (string, int64, error)) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return atomicfile.Fault(to, err)
	}
	kind, size, err := get(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return a.Print(savedMedia{to, kind, size}, func(w io.Writer) { fmt.Fprintf(w, "%s: %s, %d bytes.\n", to, kind, size) })
}
