// Package runcmd contains run with the daemon: the node with its API, the console, the bridge,
// scheduled backups, metrics and traces, until it is told to end or is locked. It also contains
// open, which makes a home with a page in the browser if there is none, and continues as the
// daemon; replay and demo, which play a day; and [Product], on which the real program is built.
package runcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/nodump"
)

// RunCommand returns locket run. setUp makes a home, step by step, for a person who has none.
func RunCommand(a *cli.App, setUp func(context.Context) error) *cobra.Command {
	var o daemonOptions
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon, which receives what wearables send", Args: cli.NoArgs(),
		Long: `Accepts events from wearables and answers commands until you stop it: with Ctrl+C, or, if it
runs as a service, with systemctl --user stop locket.

If nothing opens the keys at the start (see locket keys), the daemon starts locked. It still
accepts events and seals them, and processes them after locket unlock. When it is locked
later, it restarts itself, so that no trace of the keys is left in its memory.

Unless you give --dumps, the system writes no core dump of the daemon, and your other
programs cannot read its memory.`,
		Example: `  locket run
  locket run --broker ssl://broker.example:8883
  locket run --listen 0.0.0.0:8883 --set broker.tls_cert=c.pem --set broker.tls_key=k.pem`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.dumps {
				if err := nodump.Allow(); err != nil {
					return err
				}
			}
			err := runDaemon(a, cmd.Context(), o)
			if errors.Is(err, cli.ErrNoHome) && a.IsInteractive() {
				return runAfterSetup(a, cmd.Context(), o, setUp, err)
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&o.dumps, "dumps", false, "allow core dumps, for debugging; they contain keys")
	f.BoolVar(&o.locked, "locked", false, "start locked, whatever the configuration says")
	f.BoolVar(&o.again, "again", false, "restart after a lock")
	_ = f.MarkHidden("again") // the flag exists
	f.Var(a.Setting("broker.url", "--broker"), "broker", "`URL` of a broker; default: the node runs its own")
	f.Var(a.Setting("broker.listen", "--listen"), "listen", "`host:port` of the node's own broker")
	f.Var(a.Setting("log.level", "--log-level"), "log-level", "debug, info, warn or error")
	f.Var(a.Setting("profile", "--profile"), "profile", "default or wearable")
	return c
}

// runAfterSetup offers the setup to a person who starts a daemon without a home.
func runAfterSetup(a *cli.App, ctx context.Context, o daemonOptions, setUp func(context.Context) error, missing error) error {
	s := &cli.Asker{App: a, Ctx: ctx, IsInteractive: true}
	v, err := s.Ask(fmt.Sprintf("There is no home at %s yet. Set one up now? y: here, b: in the browser, n: no", a.Settings.Home), "n")
	v = strings.ToLower(v)
	switch {
	case err == nil && strings.HasPrefix(v, "y"):
		if err := setUp(ctx); err != nil {
			return err
		}
		return runDaemon(a, ctx, o)
	case err == nil && strings.HasPrefix(v, "b"):
		return setupPage(a, ctx, o, false)
	}
	return missing
}
