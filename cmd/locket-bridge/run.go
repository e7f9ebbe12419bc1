package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/internal/manual"
	"github.com/locket-dev/locket/cmd/internal/suggest"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/version"
)

// The exit codes are the same as those of locket.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is an error in the command line.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

var errHelped = errors.New("helped")

// app is one run of the command.
type app struct {
	stdout, stderr io.Writer
	json           bool

	mu sync.Mutex // lines are written one at a time
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	_, usage := errors.AsType[usageError](err)
	if !errors.Is(err, errHelped) {
		a.tellError(err)
		if usage && !a.json {
			fmt.Fprintf(stderr, "See %s --help.\n", cmd.CommandPath())
		}
	}
	if usage {
		return exitUsage
	}
	return exitFailed
}

// tellError prints what went wrong, and what a person can do about it.
func (a *app) tellError(err error) {
	advice := adviceOn(err)
	if a.json {
		_ = json.NewEncoder(a.stderr).Encode(struct { // standard error itself failed, so nobody can be told
			Error  string `json:"error"`
			Advice string `json:"advice,omitempty"`
		}{err.Error(), advice})
		return
	}
	fmt.Fprintf(a.stderr, "locket-bridge: %v\n", err)
	if advice != "" {
		fmt.Fprintln(a.stderr, advice)
	}
}

func adviceOn(err error) string {
	switch {
	case errors.Is(err, link.ErrNoBluetooth):
		return "Check that bluetooth.service is running, and turn on the adapter: bluetoothctl power on"
	case errors.Is(err, link.ErrNotFound):
		return "Bring the device closer, and check what is in range: bluetoothctl scan le"
	case errors.Is(err, link.ErrUnserved):
		return "GNOME and KDE Plasma do not tell programs which window is in front: log in to their X11 session, or to Sway, labwc, Wayfire, river or Hyprland"
	case errors.Is(err, errBroker):
		return "Check --broker, --name and --password-file. To make credentials: locket wearable add NAME"
	}
	return ""
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "locket-bridge",
		Short: "Connect wearables that don't speak MQTT to a Locket node",
		Example: `  locket-bridge omi --device D0:12:34:56:78:9A --broker tcp://127.0.0.1:1883 --name omi --password-file omi.password
  locket-bridge omi --capture walk.jsonl --broker tcp://127.0.0.1:1883 --name omi --password-file omi.password`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknown(c, args[0])
			}
			return nil
		},
	}
	// Not cobra's Version: its template makes the linker keep every method there is.
	showVersion := root.Flags().BoolP("version", "v", false, "print the version")
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			_, err := fmt.Fprintln(a.stdout, "locket-bridge", thisVersion())
			return err
		}
		return needsCommand(a)(c, args)
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if args := c.Flags().Args(); len(args) > 0 && c.HasAvailableSubCommands() { // the command does not exist, and was typed first
			return unknown(c, args[0])
		}
		return meant(err, suggest.Flags(c, err))
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON, one object per line")
	for _, f := range families() {
		root.AddCommand(a.deviceCommand(f))
	}
	root.AddCommand(a.runCommand(), a.listCommand(), a.simulateCommand())
	root.AddCommand(manual.Commands()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.RunE = needsCommand(a)
		}
	}
	return root
}

// unknown returns the error for a command that c does not have.
func unknown(c *cobra.Command, name string) error {
	of := ""
	if c.HasParent() {
		of = " of " + c.CommandPath()
	}
	return meant(fmt.Errorf("%q is not a command%s", name, of), suggest.Commands(c, name))
}

// meant returns a usage error with guesses of what was meant.
func meant(err error, guesses []string) error {
	if len(guesses) == 0 {
		return usageError{err}
	}
	return usageError{fmt.Errorf("%w\n%s", err, suggest.Sentence(guesses))}
}

// needsCommand returns the Run function of a command that only has subcommands.
func needsCommand(a *app) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(c, args[0])
		}
		c.SetOut(a.stderr)
		if err := c.Help(); err != nil {
			return err
		}
		return usageError{errHelped}
	}
}

// release is set by the linker: -X main.release=v0.1.0.
var release string

// thisVersion returns the version of the release, or of the module as the toolchain stamped it.
func thisVersion() string { return version.Of(release, "", "").Release }
