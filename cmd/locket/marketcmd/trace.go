package marketcmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func traceCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "trace LISTING FILE", Short: "Find out whose copy a leaked text comes from", Args: cli.ArgsBetween(2, 2, "a listing's id or a file (- is the standard input)"),
		Long: `Reads a text that somebody passed on, whole or in parts, and names the order whose copy has
the same mark. It names an order only if the chance that an innocent order agrees as well is
at most 1 in 1,000,000, for all orders of the listing together.

The result is no proof to others, because you could make any buyer's copy yourself. A person
who knows of the mark and rewrites every sentence is not found.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readTraced(a, args[1])
			if err != nil {
				return err
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).TraceCopy, serve.TraceRequest{Listing: args[0], Text: text}, showTrace)
		},
	}
}

// readTraced reads a text of at most [serve.MaxTraced].
func readTraced(a *cli.App, file string) (string, error) {
	b, err := a.ReadInput(file, serve.MaxTraced+1)
	switch {
	case err != nil:
		return "", fmt.Errorf("trace: %w", err)
	case len(b) > serve.MaxTraced:
		return "", errors.New("trace: the file is larger than 1 MiB; give a part of it")
	}
	return string(b), nil
}

func showTrace(w io.Writer, v *serve.CopyTrace) {
	fmt.Fprintf(w, "Read %d of %d places, against %s.\n", v.Read, v.Spots, cli.Plural(v.Orders, "order", "orders"))
	sure := 0
	for _, o := range v.Found {
		if o.Sure {
			sure++
			fmt.Fprintf(w, "The mark is from order %s, of buyer %s: %d of %d places agree. The chance that an innocent order agrees as well is at most %.0e.\n", o.Order.String()[:10], o.Buyer.String()[:8], o.Agree, o.Read, o.Chance)
		}
	}
	switch {
	case sure > 1:
		fmt.Fprintln(w, "Their copies were mixed.")
	case sure == 0 && len(v.Found) > 0:
		o := v.Found[0]
		fmt.Fprintf(w, "No order can be named: the likeliest agrees in %d of %d places, which is no proof.\n", o.Agree, o.Read)
	case sure == 0:
		fmt.Fprintln(w, "No order was delivered.")
	}
}
