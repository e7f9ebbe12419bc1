package devicecmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func grantLogCommand(a *cli.App) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "log NAME", Short: "Show a worker's progress, and what it says it has read", Args: cli.ArgsBetween(1, 1, "a name or member id"),
		Long: `Shows the worker's jobs, what holds them up, what they cost today, and each recording,
photo, line or memory that it gave to an engine. If it sent one to another host, the host
is named. An entry with only a day ("2026-09-14") was read by rules on the worker's
machine.

The worker writes and signs this log. It cannot later change an entry, or remove one from
the middle, without a trace. The log is a claim and no proof: a worker that can read a
space can read all of it and tell nobody.`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			v, err := cl.WorkerLog(cmd.Context(), args[0], limit)
			return a.PrintUnless(err, v, func(w io.Writer) { showWorkerLog(a, w, &v) })
		}),
	}
	cli.LimitFlag(c.Flags(), &limit, 0, "how many `reads` to show at most, newest first; default 50")
	return c
}

func showWorkerLog(a *cli.App, w io.Writer, v *serve.WorkerLog) {
	if v.Reports == 0 {
		fmt.Fprintln(w, "It has not reported yet.")
		return
	}
	fmt.Fprintf(w, "Reported %s", a.ShowTime(v.At))
	if v.Tokens > 0 || v.Dollars > 0 {
		fmt.Fprintf(w, "; that day %d tokens, $%.4f", v.Tokens, v.Dollars)
	}
	if v.Missing > 0 {
		fmt.Fprintf(w, "; %s missing here", cli.Plural(v.Missing, "report is", "reports are"))
	}
	fmt.Fprintln(w)
	for _, k := range v.Work {
		fmt.Fprintf(w, "%s  %d done, %d waiting, %d running, %d parked  %s\n", cli.OneLine(k.Kind), k.Done, k.Waiting, k.Running, k.Parked, cli.OneLine(k.Engine))
		for _, r := range k.Reasons {
			fmt.Fprintf(w, "    %d: %s\n", r.Jobs, cli.OneLine(r.Reason))
		}
	}
	for _, r := range v.Reads {
		to := ""
		if r.To != "" {
			to = "  sent to " + cli.OneLine(r.To)
		}
		fmt.Fprintf(w, "%s  %s  %s  by %s%s\n", a.ShowTime(r.At), cli.OneLine(r.Kind), cli.OneLine(r.Subject), cli.OneLine(r.Engine), to)
		if len(r.Of) > 0 {
			fmt.Fprintf(w, "    read %s\n", cli.OneLine(strings.Join(r.Of, " ")))
		}
	}
}
