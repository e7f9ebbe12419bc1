// Command locket-cloud is the cloud tier: a relay that stores and forwards what it cannot read, and
// a worker.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cmd/internal/manual"
	"github.com/locket-dev/locket/cmd/internal/suggest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// errUsage means that the command line is wrong.
var errUsage = errors.New("wrong usage")

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	json           bool
}

// commands are all commands. Each is in its own file.
var commands = []func(*app) *cobra.Command{
	(*app).serveCommand,
	(*app).migrateCommand,
	(*app).backupCommand,
	(*app).restoreCommand,
	(*app).marketCommand,
	(*app).workerCommand,
	(*app).jobsCommand,
	(*app).readyCommand,
	(*app).versionCommand,
}

// usage returns an error that says what is wrong with a command line, and what was probably meant.
func usage(what string, guesses []string) error {
	if len(guesses) > 0 {
		what += "\n" + suggest.Sentence(guesses)
	}
	return fmt.Errorf("%w: %s", errUsage, what)
}

// nothing refuses arguments for a command that takes none.
func nothing(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !c.HasAvailableSubCommands():
		return usage(fmt.Sprintf("%q is one argument too many", args[0]), nil)
	}
	return usage(fmt.Sprintf("%q is not a command of %s", args[0], c.CommandPath()), suggest.Commands(c, args[0]))
}

// one requires one argument, which the command's usage calls what.
func one(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage(what+" is missing", nil)
		case len(args) > 1:
			return usage(fmt.Sprintf("%q is one argument too many", args[1]), nil)
		}
		return nil
	}
}

// print writes v as one line of JSON, or a line of words.
func (a *app) print(v any, format string, args ...any) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(v)
	}
	_, err := fmt.Fprintf(a.stdout, format+"\n", args...)
	return err
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use: "locket-cloud", Short: "Store and forward what only its owners can read",
		Long: `The cloud tier of Locket. A relay (serve, migrate, backup, restore) stores and forwards the
sealed deltas of wearers' devices, and can't read them. A worker (worker, jobs) transcribes
and reads for the wearers who grant it access.`,
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Args: nothing,
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(err.Error(), suggest.Flags(c, err)) })
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON objects, one per line")
	for _, c := range commands {
		root.AddCommand(c(a))
	}
	root.AddCommand(manual.Commands()...)
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "locket-cloud: %v\n", err)
	if errors.Is(err, errUsage) || !started {
		fmt.Fprintf(stderr, "Usage: %s\nTry '%s --help'.\n", cmd.UseLine(), cmd.CommandPath())
		return exitUsage
	}
	if advice := advise(err); advice != "" {
		fmt.Fprintln(stderr, advice)
	}
	return exitFailed
}

// advise says what can be done about an error. It is empty if it knows nothing.
func advise(err error) string {
	switch {
	case errors.Is(err, postgres.ErrTables):
		return "To upgrade older tables: 'locket-cloud migrate up --db URL', with a login that may create tables and roles. Newer tables need a newer program."
	case errors.Is(err, postgres.ErrLogin):
		return "serve and restore need a login in locket_relay, backup needs one in locket_operator: GRANT the role to the login of --db."
	}
	return ""
}
