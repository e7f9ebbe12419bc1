package plugincmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

func listCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List plugins in the order in which events go through them", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Plugins, func(a0 io.Writer, a1 *serve.Plugin) { row(a, a0, a1) }, ""),
	}
}

// stateText describes the state of a plugin.
func stateText(p *serve.Plugin) string {
	held := ""
	if slices.Contains(p.Capabilities, string(wasm.CapRedact)) {
		held = cli.PluginBlocks
	}
	switch p.State {
	case serve.PluginFaulted:
		return "disabled after faults" + held
	case serve.PluginBroken:
		return "broken: " + cli.OneLine(p.Error) + held
	case serve.PluginOff:
		return "off"
	}
	return "runs"
}

func row(a *cli.App, w io.Writer, p *serve.Plugin) {
	state := stateText(p)
	if p.State != serve.PluginRuns {
		state = a.Paint.Red(state)
	}
	fmt.Fprintf(w, "%-24s  %-8s  %-9s  %s  %s\n", cli.OneLine(p.ID), cli.OneLine(p.Version), p.Source, state, a.Paint.Dim(cli.OneLine(p.Title)))
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show what a plugin may do, and what it has done", Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: cli.PrintCommandOf(a, (*serve.Client).Plugin, func(a0 io.Writer, a1 *serve.PluginView) { showPlugin(a, a0, a1) }),
	}
}

func showPlugin(a *cli.App, w io.Writer, v *serve.PluginView) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("plugin", "%s %s, %s", cli.OneLine(v.ID), cli.OneLine(v.Version), v.Source)
	if v.Title != "" {
		line("title", "%s", cli.OneLine(v.Title))
	}
	line("state", "%s", stateText(&v.Plugin))
	if v.State == serve.PluginFaulted {
		line("", "%s", a.WithHomef("to run it again: locket plugin enable %s", v.ID))
	}
	if v.Waiting > 0 {
		line("waiting", "%s", cli.Plural(v.Waiting, "event", "events"))
	}
	switch {
	case v.Publisher != "":
		line("signed by", "%s", trust.Fingerprint(v.Publisher))
	case v.Source == serve.PluginInstalled:
		line("signed by", "nobody")
	}
	if v.Licence != "" {
		line("licence", "%s", cli.OneLine(v.Licence))
	}
	if v.SHA256 != "" {
		line("sha256", "%s", v.SHA256)
	}
	if !v.Installed.IsZero() {
		line("installed", "%s", a.ShowTime(v.Installed))
	}
	if v.Worker != "" {
		line("confined", "%s", cli.OneLine(v.Worker))
	}
	m := wasm.Manifest{Kinds: v.Kinds, Types: v.Types}
	for _, c := range v.Capabilities {
		m.Capabilities = append(m.Capabilities, wasm.Capability(c))
	}
	for _, ask := range v.Asks {
		if t, ok := strings.CutPrefix(ask, "reads "); ok {
			m.Memories = append(m.Memories, t)
		}
	}
	list(w, "What it can read:", trust.Reads(&m))
	list(w, "What it can do:", trust.Writes(&m))
	line("calls", "%d, %.1f ms on average; %d late, %s", v.Calls, 1000*v.Seconds/float64(max(v.Calls, 1)), v.Late, cli.Plural(int(v.Dropped), "candidate left out", "candidates left out"))
	line("faults", "%s", faults(v.Faults))
	line("memory", "%s at most, of %d MiB", cli.Size(int64(v.PeakBytes)), v.Limits.MemoryMiB)
}

func faults(all map[string]uint64) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if all[k] > 0 {
			list = append(list, fmt.Sprintf("%d %s", all[k], k))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func enableCommand(a *cli.App, on bool) *cobra.Command {
	use, short, done := "enable", "Enable a plugin, also after faults have disabled it", "%s is on.\n"
	if !on {
		use, short, done = "disable", "Disable a plugin; what it has found stays", "%s is off.\n"
	}
	return &cobra.Command{
		Use: use + " ID", Short: short, Args: cli.ArgsBetween(1, 1, "the id"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			p, err := c.EnablePlugin(cmd.Context(), args[0], on)
			return a.PrintUnless(err, p, func(w io.Writer) { fmt.Fprintf(w, done, cli.OneLine(p.ID)) })
		}),
	}
}

func removeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: "Remove a plugin; what it has found stays", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `What the plugin has found stays, and so does the pin on its publisher's key: nobody else can
publish under its name. locket plugin unpin removes the pin, too.`,
		RunE: cli.PrintCommandOf(a, (*serve.Client).RemovePlugin, func(w io.Writer, p *serve.RemovedPlugin) {
			fmt.Fprintf(w, "Removed %s. What it has found stays.\n", cli.OneLine(p.ID))
		}),
	}
}

func unpinCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "unpin ID", Short: "Forget the pinned publisher key of a removed plugin", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `The next plugin that you install with this id may be signed by anybody, and may have any
version. Do this only if the publisher told you, through another channel, that the key has
changed.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if _, err := c.PluginPin(cmd.Context(), args[0]); err != nil { // fail before asking
				return err
			}
			if !yes && !a.Confirm(fmt.Sprintf("The next %s that you install may come from anybody. Continue?", cli.OneLine(args[0]))) {
				return fmt.Errorf("%s stays pinned", cli.OneLine(args[0]))
			}
			p, err := c.UnpinPlugin(cmd.Context(), args[0])
			return a.PrintUnless(err, p, func(w io.Writer) {
				fmt.Fprintf(w, "Unpinned %s: the next installation pins its key.\n", cli.OneLine(p.ID))
			})
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func logsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "logs ID", Short: "Show what a plugin logged last", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: "Shows the last 64 lines since the node started. A plugin may write 16 lines per event, of\n256 bytes each. The lines may quote what was said, so they are not stored anywhere else.",
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			lines, err := c.PluginLogs(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Print(serve.PluginLogsAnswer{Lines: lines}, func(w io.Writer) {
				for _, l := range lines {
					fmt.Fprintln(w, cli.OneLine(l))
				}
				if len(lines) == 0 {
					fmt.Fprintln(a.Stderr, "The plugin has logged nothing since the node started.")
				}
			})
		}),
	}
}

func replayCommand(a *cli.App) *cobra.Command {
	var since, until string
	c := &cobra.Command{
		Use: "replay ID", Short: "Run a plugin on past events, as far as they are kept", Args: cli.ArgsBetween(1, 1, "the id"),
		Long: `Adds what a new plugin, or a new version, finds in past events. What is already known stays
unchanged, and nothing is added twice. The events kept are texts that were said, photos,
recordings within their retention, and places with a name, but not readings and presses.`,
		Example: `  locket plugin replay ann/parking
  locket plugin replay ann/parking --since 2026-01-01`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := serve.ReplayPluginRequest{ID: args[0]}
			var err error
			if r.Since, r.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return replayPlugin(a, cmd.Context(), c, r) })
		},
	}
	c.Flags().StringVar(&since, "since", "", "events at this `time` or later")
	c.Flags().StringVar(&until, "until", "", "events before this `time`")
	return c
}

func replayPlugin(a *cli.App, ctx context.Context, c *serve.Client, r serve.ReplayPluginRequest) error {
	done, err := c.ReplayPlugin(ctx, r)
	return a.PrintUnless(err, done, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %d of them already known; %s.\n", cli.Plural(done.Events, "event", "events"),
			cli.Plural(done.Candidates, "candidate", "candidates"), done.Known, cli.Plural(len(done.Changes), "memory changed", "memories changed"))
		if done.Faults > 0 {
			fmt.Fprint(w, a.WithHomef("It failed on %s: locket plugin show %s\n", cli.Plural(done.Faults, "event", "events"), cli.OneLine(r.ID)))
		}
	})
}
