package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

func (a *app) pluginListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List plugins in the order in which events go through them", Args: nothing(),
		RunE: listing(a, (*serve.Client).Plugins, a.pluginRow, ""),
	}
}

// blocks is said of a plugin that takes words away and does not run, though
// nobody turned it off: what it did not see, nobody sees.
const blocks = "; all that is said is SET ASIDE until you enable it, turn it off or remove it"

// pluginState is what it does now, in words.
func pluginState(p *serve.Plugin) string {
	held := ""
	if slices.Contains(p.Capabilities, string(wasm.CapRedact)) {
		held = blocks
	}
	switch p.State {
	case serve.PluginFaulted:
		return "disabled after faults" + held
	case serve.PluginBroken:
		return "broken: " + oneLine(p.Error) + held
	case serve.PluginOff:
		return "off"
	}
	return "runs"
}

func (a *app) pluginRow(w io.Writer, p *serve.Plugin) {
	state := pluginState(p)
	if p.State != serve.PluginRuns {
		state = a.paint.red(state)
	}
	fmt.Fprintf(w, "%-24s  %-8s  %-9s  %s  %s\n", oneLine(p.ID), oneLine(p.Version), p.Source, state, a.paint.dim(oneLine(p.Title)))
}

func (a *app) pluginShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show what a plugin may do, and what it has done", Args: between(1, 1, "the id"),
		RunE: showingOf(a, (*serve.Client).Plugin, a.showPlugin),
	}
}

func (a *app) showPlugin(w io.Writer, v *serve.PluginView) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("plugin", "%s %s, %s", oneLine(v.ID), oneLine(v.Version), v.Source)
	if v.Title != "" {
		line("title", "%s", oneLine(v.Title))
	}
	line("state", "%s", pluginState(&v.Plugin))
	if v.Waiting > 0 {
		line("waiting", "%s for it", plural(v.Waiting, "event waits", "events wait"))
	}
	switch {
	case v.Publisher != "":
		line("signed by", "%s", trust.Fingerprint(v.Publisher))
	case v.Source == serve.PluginInstalled:
		line("signed by", "nobody")
	}
	if v.Licence != "" {
		line("licence", "%s", oneLine(v.Licence))
	}
	if v.SHA256 != "" {
		line("sha256", "%s", v.SHA256)
	}
	if !v.Installed.IsZero() {
		line("installed", "%s", a.when(v.Installed))
	}
	if v.Worker != "" {
		line("confined", "%s", oneLine(v.Worker))
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
	list(w, "What it gets to know:", trust.Reads(&m))
	list(w, "What it can do:", trust.Writes(&m))
	line("calls", "%d, %.1f ms on average; %d late, %s", v.Calls, 1000*v.Seconds/float64(max(v.Calls, 1)), v.Late, plural(int(v.Dropped), "candidate left out", "candidates left out"))
	line("faults", "%s", faults(v.Faults))
	line("memory", "%s at most, of %d MiB", size(int64(v.PeakBytes)), v.Limits.MemoryMiB)
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

func (a *app) pluginEnableCommand(on bool) *cobra.Command {
	use, short, done := "enable", "Let a plugin run, also after faults have disabled it", "%s runs.\n"
	if !on {
		use, short, done = "disable", "Turn a plugin off; what it has found stays", "%s is off.\n"
	}
	return &cobra.Command{
		Use: use + " ID", Short: short, Args: between(1, 1, "the id"),
		RunE: a.call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			p, err := c.EnablePlugin(cmd.Context(), args[0], on)
			return a.printed(err, p, func(w io.Writer) { fmt.Fprintf(w, done, oneLine(p.ID)) })
		}),
	}
}

func (a *app) pluginRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: "Take a plugin away; what it has found stays", Args: between(1, 1, "the id"),
		Long: `What it has found stays, and so does the pin on its publisher's key: nobody else can come
back under its name. locket plugin unpin ends that too.`,
		RunE: showingOf(a, (*serve.Client).RemovePlugin, func(w io.Writer, p *serve.RemovedPlugin) {
			fmt.Fprintf(w, "Removed %s. What it has found stays.\n", oneLine(p.ID))
		}),
	}
}

func (a *app) pluginUnpinCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "unpin ID", Short: "Forget whose key a removed plugin was signed by", Args: between(1, 1, "the id"),
		Long: `The next installation under this id may be signed by anybody, and may be of any version.
Do this only when the publisher told you, by another way, that the key has changed.`,
		RunE: a.call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			if _, err := c.PluginPin(cmd.Context(), args[0]); err != nil { // before anything is asked
				return err
			}
			if !yes && !a.confirm(fmt.Sprintf("Anybody may then publish %s to you once. Go on?", oneLine(args[0]))) {
				return fmt.Errorf("%s stays pinned", oneLine(args[0]))
			}
			p, err := c.UnpinPlugin(cmd.Context(), args[0])
			return a.printed(err, p, func(w io.Writer) { fmt.Fprintf(w, "Unpinned %s: the next installation pins anew.\n", oneLine(p.ID)) })
		}),
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) pluginLogsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logs ID", Short: "Show what a plugin logged last", Args: between(1, 1, "the id"),
		Long: "The last 64 lines since the node started; a plugin may write 16 an event, of 256 bytes\neach. They may quote what was said: they are kept nowhere else.",
		RunE: a.call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			lines, err := c.PluginLogs(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.print(serve.PluginLogsAnswer{Lines: lines}, func(w io.Writer) {
				for _, l := range lines {
					fmt.Fprintln(w, oneLine(l))
				}
				if len(lines) == 0 {
					fmt.Fprintln(a.stderr, "It has logged nothing since the node started.")
				}
			})
		}),
	}
}

func (a *app) pluginReplayCommand() *cobra.Command {
	var since, until string
	c := &cobra.Command{
		Use: "replay ID", Short: "Give a plugin past events again, as far as they are kept", Args: between(1, 1, "the id"),
		Long: `What a new plugin, or a new version, finds in the past is added. What is known already
stays as it is: nothing is there twice. Kept are the texts that were said, photos, recordings
as long as retention leaves them, and places with a name; readings and presses are not.`,
		Example: `  locket plugin replay ann/parking
  locket plugin replay ann/parking --since 2026-01-01`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := serve.ReplayPluginRequest{ID: args[0]}
			var err error
			if r.Since, r.Until, err = a.readPeriod(since, until); err != nil {
				return err
			}
			return a.with(cmd.Context(), true, func(c *serve.Client) error { return a.replayPlugin(cmd.Context(), c, r) })
		},
	}
	c.Flags().StringVar(&since, "since", "", "events at this `time` or later")
	c.Flags().StringVar(&until, "until", "", "events before this `time`")
	return c
}

func (a *app) replayPlugin(ctx context.Context, c *serve.Client, r serve.ReplayPluginRequest) error {
	done, err := c.ReplayPlugin(ctx, r)
	return a.printed(err, done, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %d of them known already; %s.\n", plural(done.Events, "event", "events"),
			plural(done.Candidates, "candidate", "candidates"), done.Known, plural(len(done.Changes), "memory changed", "memories changed"))
		if done.Faults > 0 {
			fmt.Fprint(w, a.heref("On %s it failed: locket plugin show %s\n", plural(done.Faults, "event", "events"), oneLine(r.ID)))
		}
	})
}
