// Package runcmd has run, with the daemon: the node with its API, the console and the bridge beside
// it, backups by schedule, metrics and traces, until it is told to end or is locked. It also has
// open, which makes a home by a page in the browser where there is none, and goes on as the daemon;
// replay and demo, which play a day; and [Product], on which the real program is built.
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

// RunCommand is locket run. setUp makes a home, step by step, for who begins without one.
func RunCommand(a *cli.App, setUp func(context.Context) error) *cobra.Command {
	var o daemonOptions
	c := &cobra.Command{
		Use: "run", Short: "Run the daemon, which takes what wearables send", Args: cli.Nothing(),
		Long: `Takes events from the wearables and answers commands until it is interrupted: by Ctrl+C, or
where it is a service by systemctl --user stop locket.

Where nothing opens the keys at the start (see locket keys), the daemon starts locked. It
still takes events and seals them, and works through them after locket unlock. When it
is locked later, it restarts itself, so that nothing of the keys is left in its memory.

The system writes no core dump of the daemon, and shows its memory to no other program
of yours, unless --dumps asks for that.`,
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
			if errors.Is(err, cli.ErrNoHome) && a.Talks() {
				return runAfterSetup(a, cmd.Context(), o, setUp, err)
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&o.dumps, "dumps", false, "let the system write core dumps, which have keys in them: to look for an error")
	f.BoolVar(&o.locked, "locked", false, "start locked, whatever the configuration says")
	f.BoolVar(&o.again, "again", false, "a daemon that was locked begins anew")
	_ = f.MarkHidden("again") // it is there
	f.Var(a.Setting("broker.url", "--broker"), "broker", "`URL` of a broker; without, the node runs its own")
	f.Var(a.Setting("broker.listen", "--listen"), "listen", "`host:port` of the node's own broker")
	f.Var(a.Setting("log.level", "--log-level"), "log-level", "debug, info, warn or error")
	f.Var(a.Setting("profile", "--profile"), "profile", "default or wearable")
	return c
}

// runAfterSetup offers the setup to who runs a daemon where there is no home yet.
func runAfterSetup(a *cli.App, ctx context.Context, o daemonOptions, setUp func(context.Context) error, missing error) error {
	s := &cli.Asker{App: a, Ctx: ctx, Talks: true}
	v, err := s.Ask(fmt.Sprintf("There is no home at %s yet. Set one up now? y for here, b for in the browser, or n", a.Settings.Home), "n")
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
