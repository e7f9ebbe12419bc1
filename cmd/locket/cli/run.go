// Package cli is what the commands of locket stand on: [App], with the flags of one call; how a
// home is opened, or its daemon asked; how results, progress and errors are shown; and the
// daemon itself, with the commands of a home and its daemon: init, open, config, pause, resume,
// lock, unlock, passphrase, keys, app, batch, categories. The other packages below cmd/locket
// have the commands of one kind each; such a command is a function that takes an App and gives a
// cobra.Command. root.go of cmd/locket lists all of them.
package cli

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
	ExitDone   = 0
	ExitFailed = 1
	ExitUsage  = 2
)

// Deps is what the commands are built on; runcmd.Product gives the real ones.
type Deps struct {
	Environ []string
	// InitHome makes a home: [ErrHomeExists].
	InitHome func(cfg config.Config, o InitOptions) (phrase string, err error)
	// JoinHome makes a home for a new device, by the code of another: [ErrHomeExists].
	JoinHome func(ctx context.Context, cfg config.Config, o InitOptions, relay string, code pairing.Code, same func(words []string, other string) bool) (Joined, error)
	// RecoverHome makes a home from the phrase: [ErrHomeExists].
	RecoverHome func(ctx context.Context, cfg config.Config, o InitOptions, relay, phrase string) (Joined, error)
	// OpenNode opens a home, locked: [ErrNoHome], memory.ErrInUse. Spans may be nil.
	OpenNode func(cfg config.Config, log *slog.Logger, spans span.Sink) (OpenNode, error)
	// LookHome names what is damaged in a home that nothing has open, and
	// RepairHome puts it right: memory.ErrInUse. ask gives the passphrase.
	LookHome   func(ctx context.Context, cfg config.Config, ask node.Ask) ([]node.RepairedItem, error)
	RepairHome func(ctx context.Context, cfg config.Config, log *slog.Logger, ask node.Ask) (node.Repaired, error)
	// Restart replaces this process by a new one of the same program. It returns only if
	// that fails. args are without the program's name.
	Restart func(args, environ []string) error
	// Demo plays a day in a home of its own; seed 0 is the fixed one.
	Demo func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error
	// Terminal reports whether a person is there to answer; nil: where standard
	// input is a terminal.
	Terminal func() bool
}

// OpenNode is a home that is open in this process.
type OpenNode interface {
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

// InitOptions say how a new home's keys are opened; at least one is set.
type InitOptions struct {
	Passphrase serve.Secret
	KeyFile    bool   // in the home itself
	Keyring    bool   // of the OS
	Language   string // of the phrase: en or zh
}

// Joined is what a new device learns of the space that it is in.
type Joined struct{ Space, Relay, Wearer string }

var ErrNoHome = errors.New("there is no node here")

var ErrHomeExists = errors.New("there is a node here already")

// UsageError is a command line that can't be meant.
type UsageError struct{ Err error }

func (u UsageError) Error() string { return u.Err.Error() }
func (u UsageError) Unwrap() error { return u.Err }

func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// ErrTold is a failure that was told already.
var ErrTold = errors.New("told")

var ErrInterrupted = errors.New("interrupted")

// GoesOnError says what an interrupted command has done, and how it goes on.
type GoesOnError struct {
	Err   error
	State string // sentences
}

func (g GoesOnError) Error() string { return g.Err.Error() }
func (g GoesOnError) Unwrap() error { return g.Err }

// Ended is what a person is told of an error. Of a command that was interrupted that is
// what it has done; what it did at that moment matters to nobody.
func Ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	if g, ok := errors.AsType[GoesOnError](err); ok {
		return AdvisedError{ErrInterrupted, g.State}
	}
	return ErrInterrupted
}

// App is one run of the command.
type App struct {
	Deps
	Stdin          io.Reader
	In             *bufio.Reader // over stdin
	Stdout, Stderr io.Writer
	Paint          Painter

	Args     []string // of the command line, without the program's name
	Json     bool
	Flags    []config.Flag // in the order of the command line
	File     string
	Settings *config.Loaded
}

// TellError prints what went wrong, and what a person can do about it.
func (a *App) TellError(err error) {
	advice := a.Advice(err)
	if a.Json {
		v := struct {
			Error  string `json:"error"`
			Type   string `json:"type,omitempty"`
			Field  string `json:"field,omitempty"`
			Advice string `json:"advice,omitempty"`
		}{Error: err.Error(), Advice: advice}
		if p, ok := errors.AsType[*serve.Problem](err); ok {
			v.Type, v.Field = p.Type, p.Field
		}
		_ = json.NewEncoder(a.Stderr).Encode(v) // to where errors go: nowhere is left to tell
		return
	}
	fmt.Fprintf(a.Stderr, "locket: %v\n", err)
	if advice != "" {
		fmt.Fprintln(a.Stderr, advice)
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

func (a *App) Advice(err error) string {
	if told, ok := errors.AsType[AdvisedError](err); ok {
		if strings.Contains(told.Advice, "locket --home ") {
			return told.Advice // it says where already
		}
		return a.Here(told.Advice)
	}
	if told, ok := errors.AsType[thereError](err); ok {
		return told.advice
	}
	switch {
	case errors.Is(err, ErrNoHome):
		return "Make one: " + a.Here("locket setup")
	case errors.Is(err, serve.ErrVaultLocked):
		return "Open it for a while: " + a.Here("locket unlock --vault")
	case errors.Is(err, memory.ErrLocked):
		return "Unlock it: " + a.Here("locket unlock") + ", or set unlock.passphrase_file, unlock.key_file or unlock.keyring."
	case errors.Is(err, serve.ErrUnsupported) && strings.Contains(err.Error(), "this node has no relay"):
		return "Name a relay: " + a.Here("locket relay add URL") + ". How to run one: " + DocsAt + "relay.md"
	case errors.Is(err, serve.ErrUnsupported) && strings.Contains(err.Error(), "sync.relay nor sync.lan is set"):
		return a.HowToSync()
	case errors.Is(err, serve.ErrSecret):
		return "Say it to Locket, without --plain, and the secret goes to the vault: " + a.Here("locket add TEXT")
	case wrongID.MatchString(err.Error()):
		return a.Here("Ids stand first in the lines of locket list and locket search. Four of their characters are enough, where no other begins so.")
	case strings.Contains(err.Error(), `(404, "no such route")`):
		return "That relay does not serve this: it has no market, or is of another version. Name one that has a market with --at URL."
	case notThere(err) != "":
		return "See what there is: " + a.Here("locket "+notThere(err))
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
		return "Something else listens there, such as Mosquitto or the daemon of another home. End it, or choose another address, for\nwearables --set broker.listen=127.0.0.1:1884. To use Mosquitto: " + a.Here("locket run --broker tcp://127.0.0.1:1883")
	case IsDamage(err):
		what := "What is named here"
		if d, ok := errors.AsType[*store.Damage](err); ok {
			what = "The store's " + d.Kind + " " + d.Key
		}
		return what + " is damaged; the rest is untouched. Stop the daemon, if one runs, and put it right: " + a.Here("locket doctor --repair")
	}
	return ""
}

// DocsAt is the address of the folder docs. Errors name it because packages have no docs.
const DocsAt = serve.Docs

// HowToSync says how a node begins to sync that does not.
func (a *App) HowToSync() string {
	return "Name a relay: " + a.Here("locket relay add URL") + "; or, for devices in one network, write sync.lan = true to config.toml\non each and start their daemons anew. What you wear is no such device: " + a.Here("locket wearable list")
}
