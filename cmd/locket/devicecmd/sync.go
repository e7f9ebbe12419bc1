package devicecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/replica"
)

func SyncCommand(a *cli.App) *cobra.Command {
	var now bool
	var folder string
	c := &cobra.Command{
		Use: "sync", Short: "Show the state of sync with your other devices", Args: cli.NoArgs(),
		Long: `Shows when this node last exchanged data with your other devices, what waits to be sent,
and what failed. Deltas that the relay should not have served, or that their author had no
right to make, are listed as set aside. They are not applied.`,
		Example: `  locket sync
  locket sync --now
  locket sync --folder /media/stick
  locket sync status --watch`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if folder != "" {
				return syncFolder(a, cmd.Context(), folder)
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				var s serve.SyncStatus
				var err error
				if now {
					s, err = syncNow(a, cmd.Context(), c)
				} else {
					s, err = c.SyncStatus(cmd.Context())
				}
				if err != nil {
					return err
				}
				if err := a.Print(s, func(w io.Writer) { showSync(a, w, &s) }); err != nil {
					return err
				}
				failed, err := showFailing(a, cmd.Context(), c, &s)
				if err != nil {
					return err
				}
				if now && (s.Error != "" || failed) {
					return cli.ErrReported
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&now, "now", false, "do one round now")
	c.Flags().StringVar(&folder, "folder", "", "exchange with a `folder`: on a stick, or one that another program keeps in sync on your devices")
	c.AddCommand(syncStatusCommand(a))
	return c
}

func showSync(a *cli.App, w io.Writer, s *serve.SyncStatus) {
	switch {
	case s.Relay != "":
		fmt.Fprintf(w, "Relay     %s\n", s.Relay)
	case s.Apart && s.LAN:
		fmt.Fprintln(w, a.WithHome("Relay     none: syncs with devices in the same network, and with locket sync --folder"))
	case s.Apart:
		fmt.Fprintln(w, a.WithHome("Relay     none: syncs with locket sync --folder"))
	default:
		fmt.Fprintln(w, "This node syncs with nobody: neither sync.relay nor sync.lan is set.\n"+a.HowToSync())
		return
	}
	last := "never"
	if !s.Synced.IsZero() {
		last = a.ShowTime(s.Synced)
	}
	fmt.Fprintf(w, "Synced    %s\n", last)
	if s.Pending > 0 { // what a relay lacks of the rest, showFailing says
		fmt.Fprintf(w, "To send   %d\n", s.Pending)
	}
	if s.Busy {
		fmt.Fprintf(w, "Under way %s\n", soFar(s))
	}
	if s.Error != "" {
		fmt.Fprintf(w, "Failed    %s\n", s.Error)
		if strings.Contains(s.Error, replica.ErrRolledBack.Error()) {
			fmt.Fprintln(w, a.WithHome("Ask the operator of the relay whether it was restored from a backup. If so, sync continues through another relay: locket relay add URL.")+
				"\nThis device still has what the relay lost. More: "+cli.DocsAt+"relay.md#backups")
		}
		if strings.Contains(s.Error, replica.ErrUnlisted.Error()) {
			do := "Run locket sync --folder DIR on that device, and then here with the same folder."
			if s.LAN {
				do = "Start the daemon on that device (locket run), in the same network as this one. Then: " + a.WithHome("locket sync --now")
			}
			fmt.Fprintln(w, do)
		}
	}
	if s.Removed || strings.Contains(s.Error, replica.ErrRemoved.Error()) {
		fmt.Fprintln(w, "Another of your devices removed this one, or the relay says so.\nIt keeps what it has, and exchanges nothing more. "+
			a.WithHome("locket export -o FILE saves what only this device has.")+" To use this\ndevice again, run locket pair on another one, and locket pair --join here with a new home.")
	}
	for _, p := range s.Problems {
		waits := ""
		if p.Waits {
			waits = " (waits)"
		}
		fmt.Fprintf(w, "Set aside %s by %s%s: %s\n", a.ShowTime(p.At), p.Member, waits, p.Reason)
	}
}

// soFar says how much the current round has done. How much is left only the relay knows, and the
// relay is not trusted.
func soFar(s *serve.SyncStatus) string {
	return fmt.Sprintf("%s received, %s sent", cli.Plural(s.Took, "delta", "deltas"), cli.Plural(s.Sent, "delta or photo", "deltas and photos"))
}

// syncNow does a round, and shows its progress if it takes long.
func syncNow(a *cli.App, ctx context.Context, c *serve.Client) (serve.SyncStatus, error) {
	m := a.Meter("sync", "deltas and photos", 0)
	defer m.End()
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for wait.For(watching, watchEvery) {
			if s, err := c.SyncStatus(watching); err == nil && s.Busy {
				m.Done.Store(int64(s.Took + s.Sent))
			}
		}
	})
	s, err := c.SyncNow(ctx)
	stop()
	watch.Wait()
	return s, err
}

func DevicesCommand(a *cli.App) *cobra.Command {
	list := &cobra.Command{
		Use: "devices", Short: "List who holds your keys: your own devices, and workers", Args: cli.NoArgs(),
		Long: `Lists everyone who holds keys to your memories: id, role, name, platform, and when it was
last heard from, by its own clock. A device that only listens sends nothing. For such a
device the list shows when it was added. How much a device has is shown if it agreed with
a snapshot, its heads were compared, or the two met in the same network. Wearables hold
no keys of yours: see locket wearable.`,
		RunE: cli.Listing(a, members, func(w io.Writer, m *serve.Member) {
			when := "this device"
			if !m.Here && m.LastHeard.IsZero() {
				when = "added " + a.ShowTime(m.Added) + ", not heard from since"
			} else if !m.Here {
				when = "heard from " + a.ShowTime(m.LastHeard)
			}
			if r := m.Reach; r != nil && r.Behind == 0 {
				when += ", has all as of " + a.ShowTime(r.At)
			} else if r != nil {
				when += fmt.Sprintf(", had %d of %s on %s", r.Has, cli.Plural(int(r.Has+r.Behind), "delta", "deltas"), a.ShowTime(r.At))
			}
			fmt.Fprintf(w, "%s  %-9s  %s  %-13s  %s\n", m.ID, m.Role, cli.Padded(cli.OneLine(m.Name), 20), cli.OneLine(m.Platform), when)
		}, "Only this device holds your keys: this node syncs with nobody.\nHow it could: locket sync. For your wearables: locket wearable list"),
	}
	list.AddCommand(devicesRemoveCommand(a), devicesCompareCommand(a))
	return list
}

// members lists the members; there are none if the node syncs with nobody.
func members(c *serve.Client, ctx context.Context) ([]serve.Member, error) {
	all, err := c.Members(ctx)
	if errors.Is(err, serve.ErrUnsupported) {
		return nil, nil
	}
	return all, err
}

func devicesRemoveCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID|NAME", Short: "Remove a device that was lost or given away", Args: cli.ArgsBetween(1, 1, "the id or the name"),
		Long: `Reads the 24 words, on a terminal or from standard input. From then on the device gets
nothing new. It keeps what it already has: that cannot be deleted from here. The beginning of
ID is enough.`,
		Example: `  locket devices remove "old phone"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var id memory.MemberID
			which := ""
			if id.UnmarshalText([]byte(args[0])) != nil {
				err := a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
					all, err := c.Members(cmd.Context())
					if err != nil {
						return err
					}
					m, err := memberOf(all, args[0])
					if err != nil {
						return cli.AdvisedError{Err: err, Advice: "To see all names and ids: locket devices"}
					}
					id, which = m.ID, fmt.Sprintf(" to remove %s, %s", cli.OneLine(m.Name), m.ID)
					return nil
				})
				if err != nil {
					return err
				}
			}
			words, err := a.AskWords(which)
			if err != nil && !errors.Is(err, cli.ErrNoWords) { // without words, only a member that is no device of the wearer can be removed
				return err
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error {
				err := c.RemoveMember(cmd.Context(), id, serve.Secret(words))
				if words == "" && err != nil && strings.Contains(err.Error(), "only the root removes an owner") {
					return cli.AdvisedError{Err: err, Advice: "It is one of your own devices, which only the 24 words can remove. Nothing was changed. Run the command again with the words."}
				}
				if err != nil {
					return err
				}
				return a.Print(serve.RemovedMember{ID: id}, func(w io.Writer) { fmt.Fprintln(w, "The device was removed.") })
			})
		},
	}
}

// memberOf returns the member with this name, or with an id that begins with it.
func memberOf(all []serve.Member, who string) (serve.Member, error) {
	var found []serve.Member
	for _, m := range all {
		if m.Name == who || len(who) >= leastID && strings.HasPrefix(m.ID.String(), strings.ToLower(who)) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return serve.Member{}, cli.Usagef("no device has the name %q, or an id that begins with it", who)
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, m := range found {
		ids = append(ids, m.ID.String())
	}
	return serve.Member{}, cli.Usagef("%q may be %s: give more of the id", who, strings.Join(ids, " or "))
}

// leastID is how many characters of an id say which member is meant.
const leastID = 4
