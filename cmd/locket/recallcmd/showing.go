package recallcmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// Showing makes what a command runs that prints one answer of the node's.
func Showing[T any](a *cli.App, get func(*serve.Client, context.Context) (T, error), show func(w io.Writer, v *T)) func(*cobra.Command, []string) error {
	return a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
		v, err := get(c, cmd.Context())
		return a.Printed(err, v, func(w io.Writer) { show(w, &v) })
	})
}

// Answered asks the node for something by one call, and prints the answer: see [cli.App.With].
func Answered[I, T any](ctx context.Context, a *cli.App, ask func(*serve.Client, context.Context, I) (T, error), in I, show func(w io.Writer, v *T)) error {
	return a.With(ctx, true, func(c *serve.Client) error {
		v, err := ask(c, ctx, in)
		return a.Printed(err, v, func(w io.Writer) { show(w, &v) })
	})
}
