package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/pairing"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// deps is what the commands are built on; product gives the real ones.
type deps struct {
	environ []string
	// initHome makes a home: errHomeExists.
	initHome func(cfg config.Config, o initOptions) (phrase string, err error)
	// joinHome makes a home for a new device, by the code of another: errHomeExists.
	joinHome func(ctx context.Context, cfg config.Config, o initOptions, relay string, code pairing.Code, same func(words []string, other string) bool) (joined, error)
	// recoverHome makes a home from the phrase: errHomeExists.
	recoverHome func(ctx context.Context, cfg config.Config, o initOptions, relay, phrase string) (joined, error)
	// openNode opens a home, locked: errNoHome, memory.ErrInUse.
	openNode func(cfg config.Config, log *slog.Logger) (openNode, error)
	// lookHome names what is damaged in a home that nothing has open, and
	// repairHome puts it right: memory.ErrInUse. ask gives the passphrase.
	lookHome   func(ctx context.Context, cfg config.Config, ask node.Ask) ([]node.RepairedItem, error)
	repairHome func(ctx context.Context, cfg config.Config, log *slog.Logger, ask node.Ask) (node.Repaired, error)
	// restart has another process of this program begin in this one's place; it
	// returns only where that can't be. args are without the program's name.
	restart func(args, environ []string) error
	// demo plays a day in a home of its own; seed 0 is the fixed one.
	demo func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error
}

// openNode is a home that is open in this process.
type openNode interface {
	serve.Service
	// UnlockAsConfigured opens the keys where the configuration gives the
	// means; opened is false where it gives none.
	UnlockAsConfigured(ctx context.Context) (opened bool, err error)
	// Drain works through what a daemon took and left behind.
	Drain(ctx context.Context) error
	// Start takes events until Stop.
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Close() error
}

// initOptions say how a new home's keys are opened; at least one is set.
type initOptions struct {
	passphrase serve.Secret
	keyFile    bool   // in the home itself
	keyring    bool   // of the OS
	language   string // of the phrase: en or zh
}

// joined is what a new device learns of the space that it is in.
type joined struct{ space, relay, wearer string }

var (
	errNoHome     = errors.New("there is no node here")
	errHomeExists = errors.New("there is a node here already")
)

// usageError is a command line that can't be meant.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errTold is a failure that was told already.
var errTold = errors.New("told")

var errInterrupted = errors.New("interrupted")

// app is one run of the command.
type app struct {
	deps
	stdin          io.Reader
	in             *bufio.Reader // over stdin
	stdout, stderr io.Writer
	paint          painter

	args     []string // of the command line, without the program's name
	json     bool
	flags    []config.Flag // in the order of the command line
	file     string
	settings *config.Loaded
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, d deps) int {
	a := &app{deps: d, args: args, stdin: stdin, in: bufio.NewReader(stdin), stdout: stdout, stderr: stderr}
	a.paint = newPainter(stdout, d.environ)
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted // by which of what it did matters to nobody
	}
	usage, isUsage := errors.AsType[usageError](err)
	if !errors.Is(err, errTold) {
		a.tellError(err)
		if isUsage && !a.json && usage.error != nil {
			fmt.Fprintf(stderr, "See %s --help.\n", cmd.CommandPath())
		}
	}
	if isUsage {
		return exitUsage
	}
	return exitFailed
}

// tellError prints what went wrong, and what a person can do about it.
func (a *app) tellError(err error) {
	advice := a.advice(err)
	if a.json {
		v := struct {
			Error  string `json:"error"`
			Type   string `json:"type,omitempty"`
			Field  string `json:"field,omitempty"`
			Advice string `json:"advice,omitempty"`
		}{Error: err.Error(), Advice: advice}
		if p, ok := errors.AsType[*serve.Problem](err); ok {
			v.Type, v.Field = p.Type, p.Field
		}
		_ = json.NewEncoder(a.stderr).Encode(v) // to where errors go: nowhere is left to tell
		return
	}
	fmt.Fprintf(a.stderr, "locket: %v\n", err)
	if advice != "" {
		fmt.Fprintln(a.stderr, advice)
	}
}

func (a *app) advice(err error) string {
	if told, ok := errors.AsType[advisedError](err); ok {
		return told.advice
	}
	home := ""
	if a.settings != nil && a.settings.Origin("home").Kind == config.FromFlag {
		home = " --home " + a.settings.Home
	}
	switch {
	case errors.Is(err, errNoHome):
		return "Make one: locket init" + home
	case errors.Is(err, serve.ErrVaultLocked):
		return "Open it for a while: locket unlock --vault" + home
	case errors.Is(err, memory.ErrLocked):
		return "Unlock it: locket unlock" + home + ", or set unlock.passphrase_file, unlock.key_file or unlock.keyring."
	case errors.Is(err, memory.ErrAmbiguous):
		return "Give more of its characters."
	case errors.Is(err, memory.ErrNoSpace):
		return "Free some space, or set disk.reserve lower."
	case errors.Is(err, memory.ErrInUse):
		return "Another process has the home open and does not answer commands here: wait for it, or end it. A daemon that was\ntold to listen elsewhere is found by the same --set api.listen."
	case errors.Is(err, pairing.ErrUsed):
		return "Have the other device show another: locket pair. If it was not you who used it, answer no there."
	case errors.Is(err, keyring.ErrNoKeyring):
		return "Use a passphrase or a key file in its place: --passphrase-file, --key-file."
	case isDamage(err):
		what := "What is named here"
		if d, ok := errors.AsType[*store.Damage](err); ok {
			what = "The store's " + d.Kind + " " + d.Key
		}
		return what + " is damaged; the rest is untouched. Stop the daemon, if one runs, and put it right: locket doctor --repair" + home
	}
	return ""
}

// root is the command with everything under it.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "locket",
		Short: "A memory that belongs to its wearer",
		Long: `Locket keeps what a pair of glasses or a pin hears and sees as typed memories,
encrypted on this machine, and answers from them with the network off.

Commands speak to the daemon where one runs on the home (locket run), and open
the home themselves where none does.`,
		Example: `  locket init
  locket run
  locket search "when is the dentist"
  locket why 3f7k`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q is not a command", args[0])
			}
			return nil
		},
	}
	// A flag of our own, and not cobra's Version with a template: text/template
	// calls methods by name, so the linker then keeps every method there is.
	showVersion := root.Flags().BoolP("version", "v", false, "print release, commit and build")
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			return a.versionCommand().RunE(c, args)
		}
		return a.needsCommand(c, args)
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON: one object, or one a line")
	f.StringVar(&a.file, "config", "", "configuration `file`")
	f.Var(a.setting("home", "--home"), "home", "the node's `folder`")
	f.Var(&setFlag{a}, "set", "any setting, as `key=value`; see locket config")
	root.AddCommand(
		a.initCommand(), a.runCommand(), a.replayCommand(), a.demoCommand(),
		a.addCommand(), a.batchCommand(), a.searchCommand(), a.askCommand(), a.contextCommand(), a.llmCommand(), a.instructionsCommand(), a.getCommand(), a.listCommand(),
		a.categoriesCommand(), a.updateCommand(), a.deleteCommand(),
		a.dreamCommand(),
		a.graphCommand(), a.entitiesCommand(),
		a.historyCommand(), a.mediaCommand(), a.whyCommand(), a.traceCommand(), a.forgetCommand(), a.zonesCommand(), a.retentionCommand(), a.tiersCommand(), a.pinCommand(true), a.pinCommand(false), a.refusalsCommand(),
		a.pauseCommand(), a.resumeCommand(), a.lockCommand(), a.unlockCommand(), a.passphraseCommand(), a.keysCommand(), a.vaultCommand(), a.deviceCommand(),
		a.pairCommand(), a.recoverCommand(), a.syncCommand(), a.relayCommand(), a.conflictsCommand(), a.devicesCommand(), a.rotateCommand(), a.fetchCommand(), a.shareCommand(), a.grantCommand(), a.revertCommand(),
		a.pluginCommand(), a.exportCommand(), a.importCommand(), a.doctorCommand(), a.statusCommand(), a.configCommand(), a.versionCommand(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" && c.RunE == nil && c.Run == nil {
			c.RunE = a.needsCommand
		}
	}
	return root
}

// needsCommand is what a command does that only has others under it.
func (a *app) needsCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q is not a command of %s", args[0], c.CommandPath())
	}
	c.SetOut(a.stderr)
	if err := c.Help(); err != nil {
		return err
	}
	return usageError{errTold}
}

// setting is a flag that sets a configuration key.
func (a *app) setting(key, name string) *settingFlag { return &settingFlag{a, key, name, ""} }

type settingFlag struct {
	app             *app
	key, name, text string
}

func (f *settingFlag) String() string { return f.text }
func (f *settingFlag) Type() string   { return "string" }
func (f *settingFlag) Set(s string) error {
	f.text = s
	f.app.flags = append(f.app.flags, config.Flag{Name: f.name, Key: f.key, Value: s})
	return nil
}

// setFlag is --set key=value.
type setFlag struct{ app *app }

func (f *setFlag) String() string { return "" }
func (f *setFlag) Type() string   { return "key=value" }
func (f *setFlag) Set(s string) error {
	key, value, ok := cutSetting(s)
	if !ok {
		return fmt.Errorf("want key=value")
	}
	f.app.flags = append(f.app.flags, config.Flag{Name: "--set", Key: key, Value: value})
	return nil
}

// between has a command take from low to high arguments; high -1: any number.
func between(low, high int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usagef("%s is missing", what)
		case high >= 0 && len(args) > high:
			return usagef("%q is one argument too many", args[high])
		case slices.Contains(args, "") && what != "":
			return usagef("%s is empty", what)
		case slices.Contains(args, ""):
			return usagef("an argument is empty")
		}
		return nil
	}
}

func nothing() cobra.PositionalArgs { return between(0, 0, "") }
