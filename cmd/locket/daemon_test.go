package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// clumsy is a home whose lock and stop fail.
type clumsy struct{ cli.OpenNode }

// clumsyKeys are its keys.
type clumsyKeys struct{ serve.Keys }

var errClumsy = errors.New("the index is not written")

func (c clumsy) Services() serve.Services {
	s := c.OpenNode.Services()
	s.Keys = clumsyKeys{s.Keys}
	return s
}

func (c clumsyKeys) Lock(ctx context.Context) error {
	return errors.Join(c.Keys.Lock(ctx), ctx.Err(), errClumsy)
}

func (c clumsy) Stop(ctx context.Context) error { return errors.Join(c.OpenNode.Stop(ctx), errClumsy) }

// interrupted is a home that is told to end while it stops for a restart.
type interrupted struct {
	cli.OpenNode
	end func()
}

func (i interrupted) Stop(ctx context.Context) error {
	i.end()
	return i.OpenNode.Stop(ctx)
}

// A daemon that is told to end while it is being locked does not restart: the new process would not
// know that it should end.
func TestStopDuringLock(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	open := d.OpenNode
	d.OpenNode = func(cfg config.Config, log *slog.Logger, spans span.Sink) (cli.OpenNode, error) {
		n, err := open(cfg, log, spans)
		if err != nil {
			return nil, err
		}
		return interrupted{n, stop}, nil
	}
	d.Restart = func([]string, []string) error {
		t.Error("the daemon restarted, although it was stopped")
		return errors.ErrUnsupported
	}
	ready, told := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"--home", home, "--json", "run"}, strings.NewReader(""), told, io.Discard, d)
		told.Close()
	}()
	if n, err := ready.Read(make([]byte, 4096)); err != nil || n == 0 {
		t.Fatal("it does not say that it is ready: ", err)
	}
	go io.Copy(io.Discard, ready)
	run(ctx, []string{"--home", home, "lock"}, strings.NewReader(""), io.Discard, io.Discard, d) // this waits for the restarted daemon
	if code := <-ended; code != 0 {
		t.Errorf("the daemon ends with %d", code)
	}
}

// A daemon restarts even if dropping its keys failed in part. Otherwise it would accept no events,
// or keep the memory that held the keys.
func TestRestartAfterFailedLock(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	again := make(chan []string, 1)
	open := d.OpenNode
	d.OpenNode = func(cfg config.Config, log *slog.Logger, spans span.Sink) (cli.OpenNode, error) {
		n, err := open(cfg, log, spans)
		if err != nil {
			return nil, err
		}
		return clumsy{n}, nil
	}
	d.Restart = func(args, _ []string) error {
		again <- args
		stop()
		return errors.ErrUnsupported
	}
	ready, told := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, []string{"--home", home, "--json", "run"}, strings.NewReader(""), told, io.Discard, d)
		told.Close()
	}()
	if n, err := ready.Read(make([]byte, 4096)); err != nil || n == 0 {
		t.Fatal("it does not say that it is ready: ", err)
	}
	go io.Copy(io.Discard, ready)
	var errs strings.Builder
	if code := run(ctx, []string{"--home", home, "lock"}, strings.NewReader(""), io.Discard, &errs, d); code == 0 {
		t.Error("the command does not say that something failed")
	}
	<-ended
	select {
	case args := <-again:
		if !slices.Contains(args, "--again") {
			t.Errorf("it begins anew with %q", args)
		}
	default:
		t.Errorf("it did not begin anew: %s", errs.String())
	}
}
