package main

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

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func cutSetting(s string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(s, "=")
	return key, value, ok && key != ""
}

// load reads the configuration, once.
func (a *app) load() (*config.Loaded, error) {
	if a.settings != nil {
		return a.settings, nil
	}
	l, err := config.Load(config.Sources{Environ: a.environ, Flags: a.flags, File: a.file})
	if err == nil {
		a.settings = l
	}
	return l, err
}

func (a *app) logger(cfg *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.SlogLevel()}
	if cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.stderr, o))
	}
	return slog.New(slog.NewTextHandler(a.stderr, o))
}

// healthTime is how long a daemon may take to say that it is there.
const healthTime = 5 * time.Second

// daemon gives a client of the daemon that runs on the home; nil: none does.
func (a *app) daemon(ctx context.Context) (*serve.Client, error) {
	l, err := a.load()
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

// lockPatience is how long a home may be held by a process that answers no
// commands: one that is just starting, or another command.
const (
	lockPatience = 30 * time.Second
	lockPoll     = 50 * time.Millisecond
)

// open opens the home, or gives a client of the daemon that has it. It waits
// for a process that has the home and is not ready yet, or about to end.
func (a *app) open(ctx context.Context) (openNode, *serve.Client, error) {
	return a.openTraced(ctx, nil)
}

// openTraced is open for a node that tells what it does.
func (a *app) openTraced(ctx context.Context, spans span.Sink) (openNode, *serve.Client, error) {
	l, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	for end := time.Now().Add(lockPatience); ; {
		c, err := a.daemon(ctx)
		if err != nil || c != nil {
			return nil, c, err
		}
		n, err := a.openNode(l.Config, a.logger(&l.Config), spans)
		if !errors.Is(err, memory.ErrInUse) || time.Now().After(end) {
			return n, nil, err
		}
		if !wait.For(ctx, lockPoll) {
			return nil, nil, ctx.Err()
		}
	}
}

// openAlone opens the home for a daemon, which there is once.
func (a *app) openAlone(ctx context.Context, spans span.Sink) (openNode, error) {
	n, c, err := a.openTraced(ctx, spans)
	if c != nil {
		c.Close()
		return nil, advisedError{fmt.Errorf("%w: a daemon runs on %s already", memory.ErrInUse, a.settings.Home), "See how it is: " + a.here("locket status")}
	}
	return n, err
}

// with calls f with a client: of the daemon, or of the home, opened here for
// as long as f takes. Where unlocked, a home that the configuration does not
// unlock has its passphrase asked for.
func (a *app) with(ctx context.Context, unlocked bool, f func(c *serve.Client) error) (err error) {
	return a.withKeys(ctx, unlocked, "", f)
}

// call makes what a command runs that does nothing else: see with.
func (a *app) call(f func(cmd *cobra.Command, c *serve.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.with(cmd.Context(), true, func(c *serve.Client) error { return f(cmd, c, args) })
	}
}

// listing makes what a command runs that prints what the node lists: see rows.
func listing[T any](a *app, list func(*serve.Client, context.Context) ([]T, error), row func(w io.Writer, v *T), none string) func(*cobra.Command, []string) error {
	return a.call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
		all, err := list(c, cmd.Context())
		return rows(a, err, all, row, none)
	})
}

// showing makes what a command runs that prints one answer of the node's.
func showing[T any](a *app, get func(*serve.Client, context.Context) (T, error), show func(w io.Writer, v *T)) func(*cobra.Command, []string) error {
	return a.call(func(cmd *cobra.Command, c *serve.Client, _ []string) error {
		v, err := get(c, cmd.Context())
		return a.printed(err, v, func(w io.Writer) { show(w, &v) })
	})
}

// showingOf is showing of what the command's argument names.
func showingOf[T any](a *app, get func(*serve.Client, context.Context, string) (T, error), show func(w io.Writer, v *T)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return answered(cmd.Context(), a, get, args[0], show) }
}

// answered asks the node for something by one call, and prints the answer: see with.
func answered[I, T any](ctx context.Context, a *app, ask func(*serve.Client, context.Context, I) (T, error), in I, show func(w io.Writer, v *T)) error {
	return a.with(ctx, true, func(c *serve.Client) error {
		v, err := ask(c, ctx, in)
		return a.printed(err, v, func(w io.Writer) { show(w, &v) })
	})
}

// withKeys is with, where the passphrase may be known already.
func (a *app) withKeys(ctx context.Context, unlocked bool, known serve.Secret, f func(c *serve.Client) error) (err error) {
	n, c, err := a.open(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		defer c.Close()
		return f(c)
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	opened, err := a.unlock(ctx, n)
	if err != nil {
		return err
	}
	if !opened && unlocked {
		pass := known
		if pass == "" {
			if pass, err = a.askPassphrase("Passphrase: "); err != nil {
				return err
			}
		}
		m := a.meter(opensHome, "", 0)
		m.saying(a.stderr, opensLong)
		err := n.Services().Keys.Unlock(ctx, pass)
		m.end()
		if err != nil {
			return err
		}
	}
	m := a.meter("work through what was left", "", 0)
	err = n.Drain(ctx)
	m.end()
	if err != nil {
		return err
	}
	c = serve.InProcess(serve.New(serve.Options{Services: n.Services(), Log: a.logger(&a.settings.Config)}))
	defer c.Close()
	return f(c)
}

// opensHome is what a person is told while a home opens.
const opensHome = "open the home"

// opensLong is said once that has taken long.
const opensLong = "Opening the home takes a while: extractors are compiled the first time, and after an upgrade."

// unlock opens the keys of a node as the configuration says. That takes long where
// plugins are compiled, the index is made anew or a store is upgraded.
func (a *app) unlock(ctx context.Context, n openNode) (opened bool, err error) {
	m := a.meter(opensHome, "", 0)
	m.saying(a.stderr, opensLong)
	defer m.end()
	return n.UnlockAsConfigured(ctx)
}

var errNoTerminal = errors.New("the passphrase is needed, and standard input is no terminal to ask for it: use --passphrase-file")

// askPassphrase reads a line without showing it. Without a terminal there is
// nobody to ask.
func (a *app) askPassphrase(prompt string) (serve.Secret, error) {
	f, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", errNoTerminal
	}
	fmt.Fprint(a.stderr, prompt)
	b, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(a.stderr)
	if err != nil {
		return "", fmt.Errorf("reading passphrase: %w", err)
	}
	return serve.Secret(b), nil
}

// passphrase takes it from a file, or asks.
func (a *app) passphrase(file, prompt string) (serve.Secret, error) {
	if file == "" {
		return a.askPassphrase(prompt)
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

// readInput reads a file, or standard input if its name is -: not more than most bytes.
func (a *app) readInput(file string, most int64) ([]byte, error) {
	in := io.Reader(a.in)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, most))
}

// confirm asks a question that only "y" and "yes" answer.
func (a *app) confirm(question string) bool { return a.agreed(question, "no") == nil }

// agreed asks a question of a command that has --yes. Unless the answer is yes, the error
// is refusal, with advice where nobody answered: the input was at its end.
func (a *app) agreed(question, refusal string) error {
	fmt.Fprint(a.stderr, question+" [y/N] ")
	line, err := a.in.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	case "":
		if err != nil {
			fmt.Fprintln(a.stderr)
			return advisedError{errors.New(refusal), "Nobody answered. To do it without being asked: --yes"}
		}
	}
	return errors.New(refusal)
}
