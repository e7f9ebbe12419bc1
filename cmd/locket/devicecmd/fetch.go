package devicecmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func FetchCommand(a *cli.App) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "fetch ID... | fetch --all", Short: "Copy photos and recordings from your other devices to this one", Args: cli.ArgsBetween(0, -1, "an id"),
		Long: `A photo or recording stays on the device that took it, and sealed at the relay, until you
fetch it to another device. locket export includes what was fetched. --all fetches
everything, which is useful after locket recover. The command names what no device has
sent yet.`,
		Example: "  locket fetch 3f7k9m2xqa\n  locket fetch --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return cli.Usagef("want the ids of memories, or --all")
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if all {
					for m, err := range cl.All(cmd.Context(), serve.ListQuery{Type: memory.Resource, State: serve.AnyState}) {
						if err != nil {
							return err
						}
						if m.Fields.Resource != nil && m.Fields.Resource.Blob != "" {
							args = append(args, m.ID.String())
						}
					}
				}
				missing := false
				for _, id := range args {
					f, err := cl.Fetch(cmd.Context(), id)
					if all && errors.Is(err, memory.ErrNotFound) {
						missing = true
						fmt.Fprintf(a.Stderr, "%s: no device has sent it yet\n", id)
						continue
					}
					if err != nil {
						return err
					}
					if err := a.Print(f, func(w io.Writer) { fmt.Fprintf(w, "%s  %d bytes\n", cli.ShortID(f.ID), f.Size) }); err != nil {
						return err
					}
				}
				if missing {
					return cli.ErrReported
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "fetch everything")
	return c
}
