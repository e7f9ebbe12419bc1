//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxSocket is the greatest length of a folder's name for a socket in it:
// sun_path has 108 bytes, and the socket's own name takes 20.
const maxSocket = 80

// patience is how long the server may take to start on a busy machine.
const patience = 10 * time.Minute

// Cluster is a PostgreSQL server that starts when the first database is
// requested. Its zero value is ready to use. It is safe for concurrent use.
type Cluster struct {
	// Durable keeps fsync on. Tests that simulate no crash of the machine do not
	// need it.
	Durable bool
	// Under is where the cluster's folder is made; empty: where temporary folders are.
	Under string

	mu     sync.Mutex
	dir    string
	server *exec.Cmd
	ended  chan struct{}
	log    *os.File
	n      int
}

// Main is called by TestMain. It runs the tests, stops the server and returns
// the exit code.
func (c *Cluster) Main(m *testing.M) int {
	code := m.Run()
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Database makes an empty database and returns its URL, with the server's
// superuser. The database exists until the cluster stops.
func (c *Cluster) Database(tb testing.TB) string {
	tb.Helper()
	url, err := c.New(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return url
}

// New is [Cluster.Database] for callers without a test.
func (c *Cluster) New(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		if err := c.start(ctx); err != nil {
			return "", err
		}
	}
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	c.n++
	name := fmt.Sprintf("test%d", c.n)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	return c.url(name), nil
}

func (c *Cluster) url(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(c.dir)
}

// Log returns the name of the server's log file. It is known after the first
// call of Database.
func (c *Cluster) Log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return filepath.Join(c.dir, "log")
}

// Kill ends the server like a crash. [Cluster.Restart] then starts it with the
// same data.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.server.Process.Signal(immediate)
	<-c.ended
	return err
}

// Runs reports whether the server, which was started, has not ended.
func (c *Cluster) Runs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// Restart starts a server again that was killed, or has ended.
func (c *Cluster) Restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.serve(ctx)
}

// Stop ends the server and removes its folder. It has no effect if the server
// was not started.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return nil
	}
	_ = c.server.Process.Signal(immediate) // it may have ended already
	<-c.ended
	c.server = nil
	return errors.Join(c.log.Close(), os.RemoveAll(c.dir))
}

func (c *Cluster) start(ctx context.Context) (err error) {
	initdb, err := program("initdb")
	if err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp(c.Under, "pgtest"); err == nil && len(c.dir) > maxSocket {
		os.Remove(c.dir)
		c.dir, err = os.MkdirTemp("/tmp", "pgtest")
	}
	if err != nil {
		return err
	}
	if err := chown(c.dir); err != nil {
		return err
	}
	cmd := c.command(initdb, "-D", filepath.Join(c.dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	return c.serve(ctx)
}

func (c *Cluster) serve(ctx context.Context) error {
	postgres, err := program("postgres")
	if err != nil {
		return err
	}
	if c.log == nil {
		if c.log, err = os.Create(filepath.Join(c.dir, "log")); err != nil {
			return err
		}
	}
	args := []string{"-D", filepath.Join(c.dir, "data"), "-k", c.dir, "-h", "", "-c", "max_connections=300", "-c", "shared_buffers=64MB"}
	if !c.Durable {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	cmd := c.command(postgres, args...)
	cmd.Stdout, cmd.Stderr = c.log, c.log
	c.ended = make(chan struct{})
	if err := run(cmd, c.ended); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	c.server = cmd
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-again.C:
		case <-c.ended:
			said, _ := os.ReadFile(c.log.Name())
			return fmt.Errorf("postgres ended: %s", said)
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", err)
		}
	}
}

func (c *Cluster) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	dropRoot(cmd)
	return cmd
}

// program returns the path of one of PostgreSQL's own programs. Debian keeps
// them in a folder for each version, which is not in the PATH.
func program(name string) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return slices.MaxFunc(found, func(a, b string) int { return compareVersions(a, b) }), nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL is needed (Debian's package postgresql): %w", err)
	}
	return path, nil
}

// compareVersions compares versions as numbers: 9 comes before 15.
func compareVersions(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
