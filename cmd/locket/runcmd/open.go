package runcmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func OpenCommand(a *cli.App) *cobra.Command {
	var quiet bool
	var keyFile string
	c := &cobra.Command{
		Use: "open", Short: "Look at your memory in the browser", Args: cli.Nothing(),
		Long: `Opens the console in the browser of this machine, and prints its address. The daemon
serves it on a loopback address (api.console) from the first time on.

Where there is no home yet, the page makes one, step by step, as locket setup does, and
this command goes on as the daemon.

The address is good once, and for two minutes. The browser's session ends when the node
is locked, after half an hour in which nothing was done, and after 12 hours.

With --key-file it opens the console of a node on another machine: the file has the link
that locket app add NAME --can console --for 30d printed there. The command serves the
page on this machine's loopback, until its last session ends.`,
		Example: "  locket open\n  locket open --print\n  locket open --key-file laptop.link",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keyFile != "" {
				return openElsewhere(a, cmd.Context(), keyFile, quiet)
			}
			err := a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				link, err := cl.OpenConsole(cmd.Context())
				if err != nil {
					return err
				}
				return a.OpenLink(link, a.Settings.Home, quiet)
			})
			if errors.Is(err, cli.ErrNoHome) {
				a.Args = runArgs(a) // the daemon begins anew by them when it is locked
				return setupPage(a, cmd.Context(), daemonOptions{}, quiet)
			}
			return err
		},
	}
	c.Flags().BoolVar(&quiet, "print", false, "print the address alone")
	c.Flags().StringVar(&keyFile, "key-file", "", "`file` with a link of locket app add: open the console of that node")
	return c
}

// runArgs are the arguments with which the daemon runs as this command does.
func runArgs(a *cli.App) (args []string) {
	if a.File != "" {
		args = append(args, "--config", a.File)
	}
	if a.JSON {
		args = append(args, "--json")
	}
	for _, f := range a.Flags {
		args = append(args, "--set", f.Key+"="+f.Value)
	}
	return append(args, "run")
}
