package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/node/serve"
)

func (a *app) rotateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Seal what comes from now on under a new key", Args: nothing(),
		Long: `Ends the epoch of your space and begins another, whose key only those get who belong
now. That happens by itself after 30 days, and whenever a device is removed. Do it
when a key may have got out: it opens nothing that comes later.

What was sealed before stays readable to all who could read it. A device that was lost
is put out with locket devices remove, which rotates as well.`,
		Example: "  locket rotate",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), true, func(c *serve.Client) error {
				r, err := c.Rotate(cmd.Context())
				if err != nil {
					return err
				}
				return a.print(r, func(w io.Writer) { fmt.Fprintf(w, "Epoch %d has begun.\n", r.Epoch) })
			})
		},
	}
}
