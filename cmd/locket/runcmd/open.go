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
		Use: "open", Short: "Look at your memory in the browser", Args: cli.NoArgs(),
		Long: `Opens the console in the browser of this machine, and prints its address. From the first use
on, the daemon serves it on a loopback address (api.console).

If there is no home yet, the page makes one step by step, like locket setup, and this command
then continues as the daemon.

The address works once, within two minutes. The browser's session ends when the node is
locked, after half an hour without activity, and after 12 hours.

With --key-file, it opens the console of a node on another machine. The file contains the
link that locket app add NAME --can console --for 30d printed there. The command serves the
page on this machine's loopback address until the last session ends.`,
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
				a.Args = runArgs(a) // with which the daemon restarts when it is locked
				return setupPage(a, cmd.Context(), daemonOptions{}, quiet)
			}
			return err
		},
	}
	c.Flags().BoolVar(&quiet, "print", false, "only print the address")
	c.Flags().StringVar(&keyFile, "key-file", "", "open the console of another node, with a `file` that contains a link from locket app add")
	return c
}

// runArgs returns the arguments with which locket run does the same as this command.
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
