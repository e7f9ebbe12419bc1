package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/network/standard"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/sync/remote/page"
)

// cloudHostArg makes the program serve what the cloud suite measures:
//
//	relay|served|plain DIR [POSTGRES-URL]
//
// It prints its address, and serves until its input ends. "relay" has no limits that one machine in
// the role of many would reach; "served" has the limits of locket-cloud serve. The plain handler
// accepts the same bodies over the same server, and inserts each delta as a row, one transaction
// per request, with the same durability. It checks nothing, so it is the upper bound for any
// service on this database.
const cloudHostArg = "cloud-host"

func cloudHostMain(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) < 2 || len(args) > 3 || args[0] != "relay" && args[0] != "served" && args[0] != "plain" {
		return errors.New("want relay|served|plain DIR [POSTGRES-URL]")
	}
	url := ""
	if len(args) == 3 {
		url = args[2]
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	fmt.Fprintln(stdout, ln.Addr())
	if args[0] == "plain" {
		return servePlain(ctx, ln, args[1], url)
	}
	var store relay.Store
	if url == "" {
		store, err = embedded.Open(ctx, args[1])
	} else {
		var blobs objects.Objects
		if blobs, err = objects.OpenFolder(args[1]); err == nil {
			store, err = postgres.Open(ctx, url, blobs)
		}
	}
	if err != nil {
		return err
	}
	quota, config := relay.DefaultQuota, api.Config{}
	if args[0] == "relay" {
		quota.PerMinute, quota.DeltasPerDay = 1<<40, 1<<40
		config.StrangersPerMinute, config.ConnsPerAddress = 1<<40, 1<<20
	}
	config.Relay = relay.New(store, relay.Config{Quota: quota})
	s := api.New(config)
	return errors.Join(s.Serve(ctx, ln), store.Close())
}

// servePlain is the upper bound for a relay.
func servePlain(ctx context.Context, ln net.Listener, dir, url string) error {
	insert, end, err := plainStore(ctx, dir, url)
	if err != nil {
		return err
	}
	hlog.SetOutput(io.Discard)
	h := server.New(server.WithListener(ln), server.WithTransport(standard.NewTransporter), server.WithMaxRequestBodySize(page.MaxRequest),
		server.WithDisablePrintRoute(true))
	h.POST("/*path", func(ctx context.Context, c *app.RequestContext) {
		items, err := page.DecodeItems(c.Request.Body(), page.MaxDeltas)
		if err == nil {
			err = insert(ctx, items)
		}
		if err != nil {
			c.SetStatusCode(500)
			c.Response.SetBodyString(err.Error())
		}
	})
	stop := context.AfterFunc(ctx, func() { _ = h.Shutdown(context.Background()) })
	defer stop()
	err = h.Run()
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, end())
}

func plainStore(ctx context.Context, dir, url string) (insert func(context.Context, [][]byte) error, end func() error, err error) {
	if url != "" {
		pool, err := pgxpool.New(ctx, url+"&pool_max_conns=16") // as the relay has
		if err != nil {
			return nil, nil, err
		}
		if _, err := pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS plain (id bigserial PRIMARY KEY, body bytea NOT NULL)"); err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, items [][]byte) error {
			_, err := pool.Exec(ctx, "INSERT INTO plain (body) SELECT unnest($1::bytea[])", items)
			return err
		}, func() error { pool.Close(); return nil }, nil
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "plain.db")+"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS plain (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, items [][]byte) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for _, b := range items {
			if _, err := tx.ExecContext(ctx, "INSERT INTO plain (body) VALUES (?)", b); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		return tx.Commit()
	}, db.Close, nil
}

// cloudHost is a host in a separate process.
type cloudHost struct {
	cmd    *exec.Cmd
	in     io.Closer
	addr   string
	args   []string
	stderr io.Writer
}

// startRelay starts a relay in its own folder. end stops it and removes the folder.
func startRelay(ctx context.Context, stderr io.Writer) (h *cloudHost, end func() error, err error) {
	dir, err := os.MkdirTemp("", "locket-bench-cloud-")
	if err != nil {
		return nil, nil, err
	}
	if h, err = startCloudHost(ctx, stderr, "relay", dir); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return h, func() error { return errors.Join(h.stop(), os.RemoveAll(dir)) }, nil
}

func startCloudHost(ctx context.Context, stderr io.Writer, args ...string) (*cloudHost, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return hostCommand(exec.CommandContext(ctx, self, append([]string{cloudHostArg}, args...)...), stderr, args)
}

// hostCommand starts a host by a command, and waits for its address.
func hostCommand(cmd *exec.Cmd, stderr io.Writer, args []string) (*cloudHost, error) {
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	h := &cloudHost{cmd, in, strings.TrimSpace(line), args, stderr}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s does not start: %w", args, err), h.stop())
	}
	return h, nil
}

func (h *cloudHost) stop() error { return errors.Join(h.in.Close(), h.cmd.Wait()) }

// kill ends the process without a chance to finish anything.
func (h *cloudHost) kill() {
	_ = h.cmd.Process.Kill() // it may have already ended; the next start then finds its data, too
	_ = h.in.Close()
	_ = h.cmd.Wait() // killed
}

// restart starts another process in its place, on the same data.
func (h *cloudHost) restart(ctx context.Context) error {
	next, err := startCloudHost(ctx, h.stderr, h.args...)
	if err != nil {
		return err
	}
	*h = *next
	return nil
}

// memory returns a line of the process's memory status (proc_pid_status(5)), in KB.
func (h *cloudHost) memory(field string) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			return strconv.ParseFloat(strings.Fields(rest)[0], 64)
		}
	}
	return 0, fmt.Errorf("no %s", field)
}
