// Package devicecmd contains the commands for wearables (wearable, zones), for the wearer's other
// devices and workers (pair, devices, recover, sync, fetch, rotate, grant), and for the relay
// between them (relay).
package devicecmd

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func WearableCommand(a *cli.App) *cobra.Command {
	group := &cobra.Command{
		Use: "wearable", Aliases: []string{"device"}, Short: "Give wearables credentials for the MQTT broker of this node", RunE: a.NeedsCommand,
		Long: `A wearable sends events, and holds none of your keys. It may write only to its own
topics. Your other devices, which hold your keys and memories, are under locket devices.`,
	}
	var r serve.AddDeviceRequest
	add := &cobra.Command{
		Use: "add NAME", Short: "Make credentials for a wearable, and show them once", Args: cli.ArgsBetween(1, 1, "the name"),
		Long: `The name is also the client id. Other software that uses this node's broker can publish
and read only on the topics that you name: + stands for one level, # for the rest. What is
published there goes to those who may read it, and not into memory. To get it into memory,
use a bridge (locket-bridge).`,
		Example: `  locket wearable add glasses
  locket wearable add ann-phone --publish owntracks/ann/#
  locket wearable add bridge --read owntracks/#`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			r.Name = args[0]
			d, err := cl.AddLogin(cmd.Context(), r)
			if errors.Is(err, serve.ErrConflict) {
				err = cli.AdvisedError{Err: err, Advice: a.LostPasswordHint(r.Name)}
			}
			return a.PrintUnless(err, d, func(w io.Writer) {
				for _, l := range [][2]string{{"broker", d.Broker}, {"client id", d.ClientID}, {"user name", d.Username}, {"password", string(d.Password)}, {"topics", d.Topics + "…"}} {
					fmt.Fprintf(w, "%-10s %s\n", l[0], l[1])
				}
				for what, list := range topicsOf(d.Publish, d.Read) {
					fmt.Fprintf(w, "%-10s %s\n", what, list)
				}
				if d.Page != "" {
					fmt.Fprintf(w, "%-10s %s\n", "page", string(d.Page))
				}
				fmt.Fprintln(w, "\nThe password is not shown again.")
				fmt.Fprint(w, cli.OnlyLocalNote(d.Broker))
				if picture, _ := a.QR(a.Stdout, string(d.Page)); d.Page != "" && picture != "" {
					fmt.Fprintf(w, "A phone or laptop that opens this page becomes the wearable:\n%s", picture)
				}
			})
		}),
	}
	add.Flags().StringSliceVar(&r.Publish, "publish", nil, "`topics` on which it may publish, besides its own")
	add.Flags().StringSliceVar(&r.Read, "read", nil, "`topics` that it may read, besides its own")
	list := &cobra.Command{
		Use: "list", Short: "List wearables", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithClient(cmd.Context(), false, func(cl *serve.Client) error {
				never := "not seen yet"
				if s, err := cl.Status(cmd.Context()); err == nil && s.Locked { // earlier times are sealed
					never = "not seen since the start"
				}
				all, err := cl.Devices(cmd.Context())
				return cli.Rows(a, err, all, func(w io.Writer, d *serve.Device) { showDevice(a, w, d, never) }, "No wearables. Add one: locket wearable add NAME")
			})
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "Remove a wearable's credentials; its memories stay", Args: cli.ArgsBetween(1, 1, "the name"),
		RunE: cli.PrintCommandOf(a, (*serve.Client).RemoveDevice, func(w io.Writer, d *serve.RemovedDevice) {
			fmt.Fprintf(w, "Removed %s. Its memories stay.\n", cli.OneLine(d.Name))
		}),
	}
	group.AddCommand(add, list, remove)
	return group
}

func showDevice(a *cli.App, w io.Writer, d *serve.Device, never string) {
	state := never
	switch {
	case d.Connected:
		state = "connected"
	case !d.LastSeen.IsZero():
		state = "last seen " + a.ShowTime(d.LastSeen)
	}
	added := "at another broker"
	if !d.Added.IsZero() {
		added = "added " + a.ShowTime(d.Added)
	}
	if d.Battery != nil {
		state += fmt.Sprintf(", battery %d %%", *d.Battery)
	}
	for what, list := range topicsOf(d.Publish, d.Read) {
		state += fmt.Sprintf(", %s %s", what, list)
	}
	if d.Events > 0 || d.LastSeen.IsZero() { // since the start
		state += ", " + cli.Plural(int(d.Events), "event", "events")
	}
	fmt.Fprintf(w, "%s  %s  %s\n", cli.Padded(cli.OneLine(d.Name), 16), added, state)
}

// topicsOf describes which topics software has besides its own.
func topicsOf(publish, read []string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if len(publish) > 0 && !yield("publishes", cli.OneLine(strings.Join(publish, " "))) {
			return
		}
		if len(read) > 0 {
			yield("reads", cli.OneLine(strings.Join(read, " ")))
		}
	}
}
