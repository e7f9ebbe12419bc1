package memorycmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func ConflictsCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "conflicts", Short: "Show and settle what your devices disagree about", Args: cli.NoArgs(),
		Long: `Two devices that were apart may have heard different things, or you may have corrected the
same memory on both. A machine may contradict what you have pinned. Nothing is lost. Other
commands show only one side. This one lists all sides, with who said each, when, and why the
first one is shown.`,
		Example: `  locket conflicts
  locket conflicts settle 3f7k --choose 2
  locket conflicts settle 3f7k --both
  locket conflicts settle 3f7k --write Bruges
  locket conflicts unsettle 3f7k`,
		RunE: cli.Listing(a, (*serve.Client).Conflicts, func(a0 io.Writer, a1 *serve.Conflict) { showConflict(a, a0, a1) }, "No conflicts."),
	}
	c.AddCommand(settleCommand(a), settledCommand(a), unsettleCommand(a))
	return c
}

func settledCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "settled", Short: "List how you settled conflicts", Args: cli.NoArgs(),
		Long: "Lists the conflicts that you settled on any of your devices, newest first, except those\nthat you unsettled.",
		RunE: cli.Listing(a, (*serve.Client).Settlements, func(w io.Writer, s *serve.Settlement) {
			fmt.Fprintf(w, "%s  %s  %s\n", a.Paint.Dim(cli.OneLine(s.ID)), a.ShowTime(s.At), cli.OneLine(s.Text))
		}, "No settled conflicts."),
	}
}

func unsettleCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "unsettle ID", Short: "Undo how you settled a conflict", Args: cli.ArgsBetween(1, 1, "the conflict, as locket conflicts settled lists it,"),
		Long: `The conflict is open again, with all its sides, on every device. If you have said something
about it since, correct that memory instead.`,
		Example: "  locket conflicts unsettle 3f7k",
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			done, err := c.Unsettle(cmd.Context(), args[0])
			if errors.Is(err, memory.ErrNotFound) {
				return cli.AdvisedError{Err: err, Advice: "See what there is: " + a.WithHome("locket conflicts settled")}
			}
			return a.PrintUnless(err, done, func(w io.Writer) { fmt.Fprint(w, a.WithHomef("%s is open again: locket conflicts\n", done.ID)) })
		}),
	}
}

func settleCommand(a *cli.App) *cobra.Command {
	var s serve.SettleRequest
	c := &cobra.Command{
		Use: "settle ID", Short: "Choose the side that is true", Args: cli.ArgsBetween(1, 1, "the conflict, as locket conflicts lists it,"),
		Long: `--choose N takes the side with that number. --both keeps all sides: texts are joined, and
other values are kept beside the one that is shown. --write gives a text or value of your own.

Your decision is synced like any change, and ends the conflict on every device.`,
		Example: `  locket conflicts settle 3f7k --choose 1
  locket conflicts settle 3f7k --write Bruges --text "I have lived in Bruges since May"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			said := 0
			for _, name := range []string{"choose", "both", "write"} {
				if cmd.Flags().Changed(name) {
					said++
				}
			}
			if said != 1 {
				return cli.Usagef("give exactly one of --choose, --both and --write")
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				done, err := c.Settle(cmd.Context(), args[0], s)
				return a.PrintUnless(err, done, func(w io.Writer) {
					fmt.Fprintf(w, "Settled %s.\n", done.ID)
					for i := range done.Changes {
						showChange(a, w, &done.Changes[i])
					}
				})
			})
		},
	}
	f := c.Flags()
	f.IntVar(&s.Choose, "choose", 0, "the `number` of a side")
	f.BoolVar(&s.Both, "both", false, "keep all sides")
	f.StringVar(&s.Write, "write", "", "choose no side: write another text or `value`")
	f.StringVar(&s.Text, "text", "", "with --write of a value: the `statement`; default: that of the shown side with the new value")
	return c
}

// about says what a conflict is about.
func about(c *serve.Conflict) string {
	switch {
	case c.Field == "pin":
		return "whether it is pinned"
	case c.Field == "state":
		return "whether it is in use"
	case c.Field != "":
		return "the " + c.Field + " of a memory"
	case c.Slot == nil:
		return "whether it is true"
	case c.Slot.Subject == "user":
		return "your " + strings.ReplaceAll(c.Slot.Attribute, "_", " ")
	default:
		return "the " + strings.ReplaceAll(c.Slot.Attribute, "_", " ") + " of " + c.Slot.Subject
	}
}

func showConflict(a *cli.App, w io.Writer, c *serve.Conflict) {
	fmt.Fprintf(w, "%s  %s\n", a.Paint.Dim(cli.OneLine(c.ID)), cli.OneLine(about(c)))
	for i, s := range c.Sides {
		no := ""
		if s.Negates {
			no = "no longer: "
		}
		fmt.Fprintf(w, "  %d  %s%s", i+1, no, cli.OneLine(s.Value))
		if s.Text != s.Value {
			fmt.Fprintf(w, "  %s", a.Paint.Dim(cli.OneLine(s.Text)))
		}
		fmt.Fprintf(w, "\n     %s, %s, %s\n", who(&s), cli.OneLine(device(&s)), a.ShowTime(s.At))
	}
	fmt.Fprintf(w, "  1 is shown: %s.\n", cli.OneLine(c.Why))
}

// who says who made the claim of a side.
func who(s *serve.ConflictSide) string {
	switch {
	case s.Rank == memory.RankPerson:
		return "you"
	case s.Rank == memory.RankCloud:
		return "a worker"
	case s.By.Plugin != "":
		return cli.OneLine(s.By.Plugin)
	}
	return "a device"
}

func device(s *serve.ConflictSide) string {
	switch {
	case s.Here:
		return "this device"
	case s.Device != "":
		return s.Device
	}
	return "device " + s.Member.String()
}
