package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/locket-dev/locket/cmd/internal/meter"
	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Load reads the configuration, once.
func (a *App) Load() (*config.Loaded, error) {
	if a.Settings != nil {
		return a.Settings, nil
	}
	l, err := config.Load(config.Sources{Environ: a.Environ, Flags: a.Flags, File: a.File})
	if err == nil {
		a.Settings = l
	} else if errors.Is(err, config.ErrFlag) {
		err = UsageError{err}
	}
	return l, err
}

func (a *App) Logger(cfg *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.SlogLevel()}
	if cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, o))
}

// healthTime is how long a daemon may take to answer the first request.
const healthTime = 5 * time.Second

// Daemon returns a client of the daemon that runs on the home, or nil if none does.
func (a *App) Daemon(ctx context.Context) (*serve.Client, error) {
	l, err := a.Load()
	if err != nil {
		return nil, err
	}
	network, address, err := l.Endpoint()
	if err != nil {
		return nil, err
	}
	var token serve.Secret
	if network == "tcp" || l.API.AskToken {
		token, err = serve.ReadToken(l.API.TokenFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	c := serve.Dial(network, address, token)
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	if err := c.Health(ctx); err != nil {
		c.Close()
		if serve.IsUnreachable(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return c, nil
}

// LockPatience is how long a command waits for a process that holds the home and answers no
// commands: a daemon that is just starting, or another command.
const (
	LockPatience = 30 * time.Second
	LockPoll     = 50 * time.Millisecond
)

// Open opens the home, or returns a client of the daemon that has it open. It waits for a process
// that has the home open and is not ready yet or is about to end.
func (a *App) Open(ctx context.Context) (OpenNode, *serve.Client, error) {
	return a.OpenTraced(ctx, nil)
}

// OpenTraced is [App.Open] for a node that reports its steps to spans.
func (a *App) OpenTraced(ctx context.Context, spans span.Sink) (OpenNode, *serve.Client, error) {
	l, err := a.Load()
	if err != nil {
		return nil, nil, err
	}
	for end := time.Now().Add(LockPatience); ; {
		c, err := a.Daemon(ctx)
		if err != nil || c != nil {
			return nil, c, err
		}
		n, err := a.OpenNode(l.Config, a.Logger(&l.Config), spans)
		if !errors.Is(err, memory.ErrInUse) || time.Now().After(end) {
			return n, nil, err
		}
		if !wait.For(ctx, LockPoll) {
			return nil, nil, ctx.Err()
		}
	}
}

// WithClient calls f with a client of the daemon, or, if none is running, of the home, which it opens
// here for as long as f runs. If unlocked is set, it asks for the passphrase of a home that the
// configuration does not unlock.
func (a *App) WithClient(ctx context.Context, unlocked bool, f func(c *serve.Client) error) (err error) {
	return a.WithKeys(ctx, unlocked, "", f)
}

// Call returns the Run function of a command that only calls f: see [App.WithClient].
func (a *App) Call(f func(cmd *cobra.Command, c *serve.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return f(cmd, c, args) })
	}
}

// Listing returns the Run function of a command that prints a list from the node: see [Rows].
func Listing[T any](a *App, list func(*serve.Client, context.Context) ([]T, error), row func(w io.Writer, v *T), none string) func(*cobra.Command, []string) error {
	return a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
		all, err := list(c, cmd.Context())
		return Rows(a, err, all, row, none)
	})
}

// WithKeys is [App.WithClient] for a passphrase that may already be known.
func (a *App) WithKeys(ctx context.Context, unlocked bool, known serve.Secret, f func(c *serve.Client) error) (err error) {
	n, c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		defer c.Close()
		return f(c)
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	opened, err := a.UnlockNode(ctx, n)
	if err != nil {
		return err
	}
	if !opened && unlocked {
		pass := known
		if pass == "" {
			if pass, err = a.AskPassphrase("Passphrase: "); err != nil {
				return err
			}
		}
		m := a.opening()
		err := n.Services().Keys.Unlock(progress.With(ctx, m.Gauge), pass)
		m.End()
		if err != nil {
			return err
		}
	}
	m := a.Meter("process what was left", "", 0)
	err = n.Drain(ctx)
	m.End()
	if err != nil {
		return err
	}
	c = serve.InProcess(serve.New(serve.Options{Services: n.Services(), Log: a.Logger(&a.Settings.Config)}))
	defer c.Close()
	return f(c)
}

// WithPassphraseFile is [App.WithClient] for a command with --passphrase-file: if nothing else opens
// the home, the passphrase in that file does. file may be empty.
func (a *App) WithPassphraseFile(ctx context.Context, file string, f func(c *serve.Client) error) (err error) {
	var known serve.Secret
	if file != "" {
		if known, err = a.Passphrase(file, ""); err != nil {
			return err
		}
	}
	return a.WithKeys(ctx, true, known, f)
}

// opensLong is printed once opening has taken long.
const opensLong = "Opening the home takes a while the first time and after an upgrade, because extractors are compiled."

// opening starts the progress line of a home that opens. It counts the modules of extractors that
// are compiled: one of them has most extractors, and takes longer than the others together.
func (a *App) opening() *meter.Meter {
	m := a.Meter("open the home", "modules compiled", 0)
	m.WithoutEstimate()
	m.Explain(a.Stderr, opensLong)
	return m
}

// UnlockNode opens the keys of a node as the configuration says. This takes long if plugins are
// compiled, the index is rebuilt or a store is upgraded.
func (a *App) UnlockNode(ctx context.Context, n OpenNode) (opened bool, err error) {
	m := a.opening()
	defer m.End()
	return n.UnlockAsConfigured(progress.With(ctx, m.Gauge))
}

var ErrNoTerminal = errors.New("the passphrase is needed, and standard input is not a terminal: use --passphrase-file")

// AskPassphrase reads a line without showing it. Without a terminal it returns ErrNoTerminal, and on
// an interrupt context.Canceled.
func (a *App) AskPassphrase(prompt string) (serve.Secret, error) {
	f, ok := a.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", ErrNoTerminal
	}
	was, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", err
	}
	fmt.Fprint(a.Stderr, prompt)
	b, err := orInterrupted(a.Interrupted, func() ([]byte, error) { return term.ReadPassword(int(f.Fd())) })
	fmt.Fprintln(a.Stderr)
	if err != nil {
		_ = term.Restore(int(f.Fd()), was) // it may be gone
		return "", fmt.Errorf("reading passphrase: %w", err)
	}
	return serve.Secret(b), nil
}

// Passphrase reads the passphrase from a file, or asks for it.
func (a *App) Passphrase(file, prompt string) (serve.Secret, error) {
	if file == "" {
		return a.AskPassphrase(prompt)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading passphrase: %w", err)
	}
	p := strings.TrimRight(string(b), "\r\n")
	if p == "" {
		return "", fmt.Errorf("reading passphrase: %s is empty", file)
	}
	return serve.Secret(p), nil
}

// PrintCommandOf is [PrintCommand] for the thing that the command's argument names.
func PrintCommandOf[T any](a *App, get func(*serve.Client, context.Context, string) (T, error), show func(w io.Writer, v *T)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return PrintAnswer(cmd.Context(), a, get, args[0], show)
	}
}

// PrintCommand returns the Run function of a command that prints one answer of the node.
func PrintCommand[T any](a *App, get func(*serve.Client, context.Context) (T, error), show func(w io.Writer, v *T)) func(*cobra.Command, []string) error {
	return a.Call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
		v, err := get(c, cmd.Context())
		return a.PrintUnless(err, v, func(w io.Writer) { show(w, &v) })
	})
}

// PrintAnswer makes one call to the node and prints the answer: see [App.WithClient].
func PrintAnswer[I, T any](ctx context.Context, a *App, ask func(*serve.Client, context.Context, I) (T, error), in I, show func(w io.Writer, v *T)) error {
	return a.WithClient(ctx, true, func(c *serve.Client) error {
		v, err := ask(c, ctx, in)
		return a.PrintUnless(err, v, func(w io.Writer) { show(w, &v) })
	})
}
