// Package console tests the console as a wearer uses it: in a real Chromium, with
// a real daemon that has processed a day of data.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// patience is the longest that a test waits for anything.
const patience = 5 * time.Minute

// theDay is the day of testdata/day.
const theDay = "2026-09-14"

var (
	locket  string          // the command
	relayAt string          // address of the relay of the home
	home    string          // of the daemon that all tests share
	browser context.Context // of the Chromium that all tests share
	axe     string          // axe-core, which looks for what a screen reader can't use
)

func TestMain(m *testing.M) {
	plugincache.Run(func(plugins string) (int, error) { return prepare(m, plugins) })
}

func prepare(m *testing.M, plugins string) (code int, err error) {
	b, err := os.ReadFile("../../node/console/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		return 1, fmt.Errorf("%w: run npm ci in node/console/web", err)
	}
	axe = string(b)
	// The headless shell is the same engine without the window, which takes two thirds of the work.
	// Only the tests that need a microphone or a camera start a whole Chromium. Debian's command of that
	// name is a script that starts it, and a script that is killed would leave it running.
	chromium, err := exec.LookPath("/usr/lib/chromium/chromium-headless-shell")
	if err != nil {
		return 1, fmt.Errorf("%w: install chromium-headless-shell", err)
	}
	dir, err := os.MkdirTemp("", "locket-console-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	// Some fifty homes share the compiled plugins.
	locket = filepath.Join(dir, "locket")
	if out, err := exec.Command("go", "build", "-ldflags", "-X main.pluginCache="+plugins, "-o", locket, "../../cmd/locket").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build locket: %w\n%s", err, out)
	}
	home = filepath.Join(dir, "home")
	url, stopRelay, err := serveRelay(filepath.Join(dir, "relay"))
	if err != nil {
		return 1, err
	}
	relayAt = url
	defer func() { err = errors.Join(err, stopRelay()) }()
	stop, err := live(home, "--set", "sync.relay="+url)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.Env("TMPDIR="+dir), // it leaves a folder there
		chromedp.Flag("lang", "en-GB"), chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("allow-pre-commit-input", true)) // otherwise Chromium drops clicks and keys until the first paint of a page
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	browser, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Run(browser); err != nil {
		return 1, fmt.Errorf("start chromium: %w", err)
	}
	return m.Run(), nil
}

// initial makes a home.
var initial = []string{"init", "--key-file", "--no-check", "--wearer", "Mei", "--zone", "Asia/Shanghai"}

// begin makes a home and starts its daemon.
func begin(home string, flags ...string) (_ func() error, err error) {
	if _, err := command(home, initial...); err != nil {
		return nil, err
	}
	return start(home, flags...)
}

// start starts the daemon of a home.
func start(home string, flags ...string) (_ func() error, err error) {
	daemon := exec.Command(locket, "--home", home, "--set", "disk.reserve=64MB", "--set", "broker.listen=127.0.0.1:0", "run")
	daemon.Args = append(daemon.Args, flags...)
	daemon.Stderr = os.Stderr
	if err := daemon.Start(); err != nil {
		return nil, err
	}
	stop := func() error {
		err := daemon.Process.Signal(os.Interrupt)
		return errors.Join(err, daemon.Wait())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	c, err := client(home)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience) // its first start compiles the plugins
	defer cancel()
	for err = c.Health(ctx); err != nil; err = c.Health(ctx) { // it is starting
		if !wait.For(ctx, 50*time.Millisecond) {
			return nil, err
		}
	}
	return stop, nil
}

// ownHome makes a home for one test alone, with a daemon that runs until the test ends, and
// returns it with its client.
func ownHome(t *testing.T, flags ...string) (home string, c *serve.Client) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "home")
	if _, err := command(home, initial...); err != nil {
		t.Fatal(err)
	}
	return home, ofHome(t, home, flags...)
}

// ofHome runs the daemon of a test's own home until the test ends, and returns its client.
func ofHome(t *testing.T, home string, flags ...string) *serve.Client {
	t.Helper()
	stop, err := start(home, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// live makes a home, starts its daemon, and replays the day to it.
func live(home string, flags ...string) (_ func() error, err error) {
	stop, err := begin(home, flags...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	c, err := client(home)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := command(home, "replay", "../../testdata/day/day.jsonl"); err != nil {
		return nil, err
	}
	return stop, lived(ctx, c)
}

// lived waits until a home has processed the replayed day.
func lived(ctx context.Context, c *serve.Client) error {
	for {
		s, err := c.Status(ctx)
		if err != nil {
			return err
		}
		if s.Journal.Waiting == 0 && s.Utterances >= 156 {
			return nil
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
}

func client(home string) (*serve.Client, error) { return clientWith(home, "") }

// appClient returns a client of the shared daemon that uses an app's key.
func appClient(t *testing.T, key string) (*serve.Client, error) {
	c, err := clientWith(home, serve.Secret(key))
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

func clientWith(home string, key serve.Secret) (*serve.Client, error) {
	l, err := config.Load(config.Sources{Flags: []config.Flag{{Key: "home", Value: home}}})
	if err != nil {
		return nil, err
	}
	network, address, err := l.Endpoint()
	if err != nil {
		return nil, err
	}
	return serve.Dial(network, address, key), nil
}

func command(home string, args ...string) (string, error) {
	cmd := exec.Command(locket, append([]string{"--home", home, "--set", "disk.reserve=64MB"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("locket %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// link requests a link, as a person does.
func link(t *testing.T) serve.ConsoleLink {
	t.Helper()
	return linkOf(t, home)
}

// linkOf requests a link from the daemon of another home.
func linkOf(t *testing.T, home string) serve.ConsoleLink {
	t.Helper()
	out, err := command(home, "--json", "open", "--print")
	if err != nil {
		t.Fatal(err)
	}
	var l serve.ConsoleLink
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// api is a client of the shared daemon's API, without the console.
func api(t *testing.T) *serve.Client {
	t.Helper()
	c, err := client(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
