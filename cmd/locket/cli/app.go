// Package cli holds what the commands of locket share: [App], which is one run with its flags; how
// a home is made, opened, or reached through its daemon; how a person is asked; and how memories,
// progress and errors are shown. It has no commands itself. They are in the packages whose names
// end in cmd, one for each kind, which do not import each other. A command is a function that takes
// an App and returns a cobra.Command. root.go of cmd/locket lists all of them.
package cli

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/locket-dev/locket/cmd/internal/meter"
	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/internal/span"
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

// Deps is what the commands are built on. runcmd.Product returns the real ones.
type Deps struct {
	Environ []string
	// InitHome makes a home. It may fail with [ErrHomeExists].
	InitHome func(cfg config.Config, o InitOptions) (phrase string, err error)
	// JoinHome makes a home for a new device, with the code that another device shows. It may fail
	// with [ErrHomeExists].
	JoinHome func(ctx context.Context, cfg config.Config, o InitOptions, relay string, code pairing.Code, same func(words []string, other string) bool) (Joined, error)
	// RecoverHome makes a home from the phrase. It may fail with [ErrHomeExists].
	RecoverHome func(ctx context.Context, cfg config.Config, o InitOptions, relay, phrase string) (Joined, error)
	// OpenNode opens a home, locked. It may fail with [ErrNoHome] and memory.ErrInUse. Spans may be
	// nil.
	OpenNode func(cfg config.Config, log *slog.Logger, spans span.Sink) (OpenNode, error)
	// LookHome names what is damaged in a home, and RepairHome repairs it. Both fail with
	// memory.ErrInUse if a process has the home open. ask returns the passphrase.
	LookHome   func(ctx context.Context, cfg config.Config, ask node.Ask) ([]node.RepairedItem, error)
	RepairHome func(ctx context.Context, cfg config.Config, log *slog.Logger, ask node.Ask) (node.Repaired, error)
	// Restart replaces this process by a new one of the same program. It returns only if that
	// fails. args do not include the program's name.
	Restart func(args, environ []string) error
	// Demo plays a day in a home of its own. Seed 0 plays the fixed day.
	Demo func(ctx context.Context, out io.Writer, json bool, seed uint64, home string) error
	// Terminal reports whether a person is there to answer. If it is nil, a person is assumed if
	// standard input is a terminal.
	Terminal func() bool
}

// OpenNode is a home that is open in this process.
type OpenNode interface {
	// Services is the API that the commands call.
	Services() serve.Services
	// Web takes what wearables send over HTTP.
	Web() http.Handler
	// UnlockAsConfigured opens the keys if the configuration says how. Otherwise opened is false.
	UnlockAsConfigured(ctx context.Context) (opened bool, err error)
	// Drain processes the events that a daemon accepted and did not finish.
	Drain(ctx context.Context) error
	// Start accepts events until Stop.
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Close() error
}

// InitOptions say how a new home's keys are opened. At least one is set.
type InitOptions struct {
	Passphrase serve.Secret
	KeyFile    bool   // in the home itself
	Keyring    bool   // of the OS
	Language   string // of the phrase: en or zh
}

// Joined is what a new device learns about the space that it joins.
type Joined struct{ Space, Relay, Wearer string }

// App is one run of the command. Its methods use only types that all commands know. What needs
// other types, such as [OpenBackup] and [Reader], is a function: the compiler reads everything that
// a method of App names once for each package of commands, and the program's tables then contain
// those files as many times.
type App struct {
	Deps
	Stdin          io.Reader
	In             *bufio.Reader // over stdin; it fails once Interrupted is closed
	Stdout, Stderr io.Writer
	Paint          Painter

	Args     []string // the command line, without the program's name
	JSON     bool
	Flags    []config.Flag // in the order of the command line
	File     string
	Settings *config.Loaded

	Interrupted <-chan struct{} // closed when the person ends the command; may be nil
}

// Meter starts a meter of long work. A total of 0 means that it is not known. The caller must call
// End.
func (a *App) Meter(what, unit string, total int) *meter.Meter {
	g := new(progress.Gauge)
	g.Total.Store(int64(total))
	return a.MeterOf(g, what, unit)
}

// MeterOf starts a meter that shows what g counts.
func (a *App) MeterOf(g *progress.Gauge, what, unit string) *meter.Meter {
	return meter.Start(a.Stderr, a.JSON, g, what, unit)
}
