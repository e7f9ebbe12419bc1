package devicecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	relays "github.com/locket-dev/locket/sync/remote"
)

func RelayCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "relay", Short: "Choose the relays that this node syncs through", RunE: a.NeedsCommand,
		Long: `A relay is a server that keeps and forwards your devices' memories, sealed. This command
chooses the relays that this node uses. To run a relay yourself, use locket-cloud serve.

With more than one relay, this node sends everything to each relay and reads from each.
While one is down, it uses the others. It names a relay that withholds something or that
shows something different. The first relay decides who is a member, and serves pairings
and shares.`,
		Example: `  locket relay add https://relay.example:8443
  locket relay list
  locket relay move https://relay.example:8443
  locket relay remove https://old.example
  locket relay delete https://old.example`,
	}
	c.AddCommand(
		relayChange(a, "add URL", "Sync through another relay as well", "", (*serve.Client).AddRelay),
		relayListCommand(a),
		relayChange(a, "move URL", "Move everything to another relay, and make it the first",
			`Sends everything to the new relay: the log of members, all memories, photos and
recordings. Once the relay shows all of it, it becomes the first relay. The old relay stays
until you remove it. Run locket relay move on each of your other devices, too. Shares and
grants stay where they were made.`, (*serve.Client).MoveRelay),
		relayChange(a, "remove URL", "Leave a relay",
			"What the relay stores stays there, sealed. To delete it, use locket relay delete with the 24 words.", (*serve.Client).RemoveRelay),
		relayDeleteCommand(a))
	return c
}

func relayListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the relays and the state of each", Args: cli.NoArgs(),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
			list, err := c.Relays(cmd.Context())
			if err != nil {
				return err
			}
			if len(list) == 0 && !a.JSON {
				fmt.Fprintln(a.Stderr, a.WithHome("This node has no relay. Add one: locket relay add URL"))
			}
			return showRelays(a, list)
		}),
	}
}

func relayChange(a *cli.App, use, short, long string, do func(*serve.Client, context.Context, string) ([]serve.Relay, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: cli.ArgsBetween(1, 1, "the relay's URL"),
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			list, err := do(c, cmd.Context(), args[0])
			if errors.Is(err, serve.ErrRelay) {
				return relayFailed(a, cmd.Context(), c, args[0], err)
			}
			if err != nil {
				return err
			}
			return showRelays(a, list)
		}),
	}
}

// relayFailed adds to err what became of the relay, and what to do about it.
func relayFailed(a *cli.App, ctx context.Context, c *serve.Client, url string, err error) error {
	list, failed := c.Relays(ctx)
	used := slices.ContainsFunc(list, func(r serve.Relay) bool { return strings.EqualFold(r.URL, strings.TrimRight(url, "/")) })
	switch {
	case failed != nil:
		return err
	case used:
		return cli.AdvisedError{Err: err, Advice: "The node now uses this relay, and tries again by itself while its daemon is running. To see its state: " + a.WithHome("locket relay list")}
	case strings.Contains(err.Error(), relays.ErrInvite.Error()):
		why := "Ask the operator of the relay for a code. Each code is good for one account."
		if l, err := a.Load(); err == nil && l.Sync.Invite != "" {
			why = "The relay does not know the code in sync.invite, or the code was used: each is good for one account. Ask the operator of the relay for another."
		}
		return cli.AdvisedError{Err: err, Advice: "Nothing was changed. " + why + "\nWrite it to " + config.FileName + " as sync.invite, and restart the daemon if one is running."}
	}
	return cli.AdvisedError{Err: err, Advice: "Nothing was changed. Is the address right, and is a relay running there? How to run one: " + cli.DocsAt + "relay.md"}
}

func showRelays(a *cli.App, list []serve.Relay) error {
	return cli.Rows(a, nil, list, func(a0 io.Writer, a1 *serve.Relay) { showRelay(a, a0, a1) }, "")
}

// showFailing shows the relays and devices that the node sends to by itself and that fail or lack
// something. all reports whether there are relays and every one of them fails.
// Failures of a single round were already reported by the node.
func showFailing(a *cli.App, ctx context.Context, c *serve.Client, s *serve.SyncStatus) (all bool, err error) {
	if s.Relay == "" && !s.Apart {
		return false, nil
	}
	list, err := c.Relays(ctx)
	if err != nil {
		return false, err
	}
	relay := func(r serve.Relay) bool { return r.Kind != serve.RelayPeer }
	all = slices.ContainsFunc(list, relay) && !slices.ContainsFunc(list, func(r serve.Relay) bool { return relay(r) && r.Error == "" })
	if a.JSON { // one object
		return all, nil
	}
	return all, showRelays(a, slices.DeleteFunc(list, func(r serve.Relay) bool { return !r.Fails() && (!relay(r) || r.Lacks == 0 && r.Blobs == 0) }))
}

func showRelay(a *cli.App, w io.Writer, r *serve.Relay) {
	kind := r.Kind
	if kind == serve.RelayPrimary {
		kind = "first"
	}
	waits := ""
	if r.Metered {
		waits = " once the connection is not metered (sync.metered)"
	}
	fmt.Fprintf(w, "%-6s  %s", kind, cli.OneLine(r.URL))
	switch {
	case r.Busy && r.All > 0:
		fmt.Fprintf(w, "  sending %d of %d", r.Done, r.All)
	case r.Lacks == 0 && r.Blobs > 0:
		fmt.Fprintf(w, "  %s to send%s", cli.Plural(r.Blobs, "photo or recording", "photos and recordings"), waits)
	case r.Lacks > 0:
		fmt.Fprintf(w, "  lacks %s", cli.Plural(r.Lacks, "delta", "deltas"))
		if r.Blobs > 0 {
			fmt.Fprintf(w, ", and %s%s", cli.Plural(r.Blobs, "photo or recording", "photos and recordings"), waits)
		}
	case !r.Synced.IsZero():
		fmt.Fprintf(w, "  in sync, %s", a.ShowTime(r.Synced))
	}
	fmt.Fprintln(w)
	if r.Error != "" {
		fmt.Fprintf(w, "        failed: %s\n", cli.OneLine(strings.TrimPrefix(r.Error, r.URL+": ")))
	}
	if !r.Retry.IsZero() {
		fmt.Fprintf(w, "        tried again at %s\n", a.ShowTime(r.Retry))
	}
	for _, t := range r.Trouble {
		fmt.Fprintf(w, "        %s\n", a.Paint.Red(cli.OneLine(strings.TrimPrefix(t, r.URL+": "))))
	}
}

// syncFolder exchanges with a folder. A relative path is relative to where the command runs.
func syncFolder(a *cli.App, ctx context.Context, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return cli.PrintAnswer(ctx, a, (*serve.Client).SyncFolder, abs, func(w io.Writer, done *serve.FolderSynced) {
		fmt.Fprintf(w, "Read %s, wrote %d; copied %s in either direction.\n", cli.Plural(done.Took, "delta", "deltas"), done.Gave, cli.Plural(done.Blobs, "photo or recording", "photos and recordings"))
		for _, t := range done.Trouble {
			fmt.Fprintf(w, "Not read: %s\n", cli.OneLine(t))
		}
	})
}

// watchEvery is how often sync status --watch checks.
const watchEvery = time.Second

func syncStatusCommand(a *cli.App) *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "status", Short: "Show what each relay and device still lacks", Args: cli.NoArgs(),
		Long: `Shows what waits to be sent. For each relay, and each device in your network, it shows
what is missing there, and why. With --watch it continues until nothing is left to do.
That needs a daemon to do the work: locket run.`,
		Example: "  locket sync status --watch",
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
			shown := ""
			for {
				line, err := syncLine(a, cmd.Context(), c, &shown)
				if err != nil || !watch || line {
					return err
				}
				if s, err := c.Status(cmd.Context()); err != nil {
					return err
				} else if !s.Running {
					return cli.AdvisedError{Err: errors.New("no daemon is running, so nothing is sent"), Advice: "Do one round with locket sync --now, or start locket run."}
				}
				select {
				case <-cmd.Context().Done():
					return nil
				case <-time.After(watchEvery):
				}
			}
		}),
	}
	c.Flags().BoolVar(&watch, "watch", false, "continue until nothing is left to do")
	return c
}

// syncLine prints the state of sync if it differs from what was shown. done is true if nothing is
// left to send and all remotes are in sync.
func syncLine(a *cli.App, ctx context.Context, c *serve.Client, shown *string) (done bool, err error) {
	s, err := c.SyncStatus(ctx)
	if err != nil {
		return false, err
	}
	list, err := c.Relays(ctx)
	if err != nil {
		return false, err
	}
	done = s.Pending == 0 && !s.Busy && (s.Error == "" || s.Relay == "")
	for _, r := range list {
		done = done && r.Lacks == 0 && !r.Busy && r.Error == ""
	}
	now := fmt.Sprint(s.Pending, s.Error, s.Busy, s.Took, s.Sent, list)
	if now == *shown {
		return done, nil
	}
	*shown = now
	if err := a.Print(s, func(w io.Writer) { showSync(a, w, &s) }); err != nil {
		return done, err
	}
	return done, showRelays(a, list)
}
