package memorycmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func UndoCommand(a *cli.App) *cobra.Command {
	var last bool
	c := &cobra.Command{
		Use: "undo ID | undo --last", Short: "Undo a memory, and restore what it replaced", Args: orLast(&last),
		Long: `Undoes, on all devices, what was understood from something heard. ID is the memory that was
made, or the one that it replaced, which is then restored. What was heard can still be found
by its words. locket revert --undo, with the id that is printed, reverses this.

What you yourself have said about the memory is not undone: locket update corrects it, and
locket delete erases it.`,
		Example: `  locket undo 3f7k9m2xqa
  locket undo --last
  locket revert --undo k3f9tq2m7x`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			ctx := cmd.Context()
			id, err := aimed(ctx, c, args)
			if err != nil {
				return err
			}
			m, err := c.Get(ctx, id)
			if err != nil {
				return err
			}
			v, err := c.Revert(ctx, serve.RevertRequest{Memory: m.ID})
			if err != nil && strings.Contains(err.Error(), "said something about it yourself") {
				short := cli.ShortID(m.ID)
				err = cli.AdvisedError{Err: err, Advice: "To see what it said before: locket history " + short + ". To say that again: locket update " + short + " --text TEXT. To erase it: locket delete " + short}
			}
			return a.PrintUnless(err, v, func(w io.Writer) {
				fmt.Fprintf(w, "Undone: %s\n", cli.OneLine(v.Memories[0].Text))
				if again, err := c.Get(ctx, id); err == nil && again.State == memory.Active {
					fmt.Fprintf(w, "Restored: %s\n", cli.OneLine(again.Text))
				}
				fmt.Fprint(w, a.WithHomef("To reverse this: locket revert --undo %s\n", v.ID))
			})
		}),
	}
	c.Flags().BoolVar(&last, "last", false, "the memory that was learnt last")
	return c
}
