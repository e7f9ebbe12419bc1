package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/span"
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
	// openNode opens a home, locked: errNoHome, memory.ErrInUse. Spans may be nil.
	openNode func(cfg config.Config, log *slog.Logger, spans span.Sink) (openNode, error)
	// lookHome names what is damaged in a home that nothing has open, and
	// repairHome puts it right: memory.ErrInUse. ask gives the passphrase.
	lookHome   func(ctx context.Context, cfg config.Config, ask node.Ask) ([]node.RepairedItem, error)
	repairHome func(ctx context.Context, cfg config.Config, log *slog.Logger, ask node.Ask) (node.Repaired, error)
	// restart replaces this process by a new one of the same program. It returns only if
	// that fails. args are without the program's name.
	restart func(args, environ []string) error
	// demo plays a day in a home of its own; seed 0 is the fixed one.
	demo func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error
	// terminal reports whether a person is there to answer; nil: where standard
	// input is a terminal.
	terminal func() bool
}

// openNode is a home that is open in this process.
type openNode interface {
	// Services is what the commands ask.
	Services() serve.Services
	// Web takes what wearables send over HTTP.
	Web() http.Handler
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
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errTold is a failure that was told already.
var errTold = errors.New("told")

var errInterrupted = errors.New("interrupted")

// goesOnError says what an interrupted command has done, and how it goes on.
type goesOnError struct {
	err   error
	state string // sentences
}

func (g goesOnError) Error() string { return g.err.Error() }
func (g goesOnError) Unwrap() error { return g.err }

// ended is what a person is told of an error. Of a command that was interrupted that is
// what it has done; what it did at that moment matters to nobody.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	if g, ok := errors.AsType[goesOnError](err); ok {
		return advisedError{errInterrupted, g.state}
	}
	return errInterrupted
}

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
	if err := a.complete(root); err != nil {
		a.tellError(err)
		return exitFailed
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	err = ended(ctx, err)
	usage, isUsage := errors.AsType[usageError](err)
	if !errors.Is(err, errTold) {
		a.tellError(err)
		if isUsage && !a.json && usage.err != nil {
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

// lists has the command that lists what an error names.
var lists = map[string]string{"app": "app list", "community": "community list", "comparison": "match list", "conflict": "conflicts", "consent": "consent list", "device": "wearable list",
	"dream": "dream", "given": "share given", "grant": "grant list", "member": "devices", "order": "market orders", "plugin": "plugin list", "sale": "market sales", "share": "share list", "worker": "grant list", "zone": "zones list"}

// notThere returns the command that lists what an error did not find, by the first word of the error; empty: none.
func notThere(err error) string {
	if m := wrongName.FindStringSubmatch(err.Error()); m != nil {
		return lists[m[1]]
	}
	return ""
}

// wrongName finds the error for a name or an id that nothing of its kind has, or that is malformed.
var wrongName = regexp.MustCompile(`^(?:invalid: )?(\w+) .*: (?:not found$|want at least |want 16 hex)`)

// wrongID finds the error for an id that is malformed, or that no memory has.
var wrongID = regexp.MustCompile(`\b(?:invalid: id|memory) "[^"]*": (?:want|not found)`)

func (a *app) advice(err error) string {
	if told, ok := errors.AsType[advisedError](err); ok {
		if strings.Contains(told.advice, "locket --home ") {
			return told.advice // it says where already
		}
		return a.here(told.advice)
	}
	if told, ok := errors.AsType[thereError](err); ok {
		return told.advice
	}
	switch {
	case errors.Is(err, errNoHome):
		return "Make one: " + a.here("locket setup")
	case errors.Is(err, serve.ErrVaultLocked):
		return "Open it for a while: " + a.here("locket unlock --vault")
	case errors.Is(err, memory.ErrLocked):
		return "Unlock it: " + a.here("locket unlock") + ", or set unlock.passphrase_file, unlock.key_file or unlock.keyring."
	case errors.Is(err, serve.ErrUnsupported) && strings.Contains(err.Error(), "this node has no relay"):
		return "Name a relay: " + a.here("locket relay add URL") + ". How to run one: " + docsAt + "relay.md"
	case errors.Is(err, serve.ErrUnsupported) && strings.Contains(err.Error(), "sync.relay nor sync.lan is set"):
		return a.howToSync()
	case errors.Is(err, serve.ErrSecret):
		return "Say it to Locket, without --plain, and the secret goes to the vault: " + a.here("locket add TEXT")
	case wrongID.MatchString(err.Error()):
		return a.here("Ids stand first in the lines of locket list and locket search. Four of their characters are enough, where no other begins so.")
	case strings.Contains(err.Error(), `(404, "no such route")`):
		return "That relay does not serve this: it has no market, or is of another version. Name one that has a market with --at URL."
	case notThere(err) != "":
		return "See what there is: " + a.here("locket "+notThere(err))
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
	case errors.Is(err, syscall.EADDRINUSE):
		return "Something else listens there, such as Mosquitto or the daemon of another home. End it, or choose another address, for\nwearables --set broker.listen=127.0.0.1:1884. To use Mosquitto: " + a.here("locket run --broker tcp://127.0.0.1:1883")
	case isDamage(err):
		what := "What is named here"
		if d, ok := errors.AsType[*store.Damage](err); ok {
			what = "The store's " + d.Kind + " " + d.Key
		}
		return what + " is damaged; the rest is untouched. Stop the daemon, if one runs, and put it right: " + a.here("locket doctor --repair")
	}
	return ""
}

// docsAt is the address of the folder docs. Errors name it because packages have no docs.
const docsAt = serve.Docs

// howToSync says how a node begins to sync that does not.
func (a *app) howToSync() string {
	return "Name a relay: " + a.here("locket relay add URL") + "; or, for devices in one network, write sync.lan = true to config.toml\non each and start their daemons anew. What you wear is no such device: " + a.here("locket wearable list")
}
