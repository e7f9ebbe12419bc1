package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
)

// The test binary acts as the command when it is started with this variable.
const asCommand = "LOCKET_TEST_AS_CLOUD"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(cluster.Main(m))
}

// cluster is the PostgreSQL of all tests that need one.
var cluster pgtest.Cluster

// process is a command that serves.
type process struct {
	cmd *exec.Cmd
	url string
	log *logbook.Book // what it said on standard error
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith is start with additional environment variables.
func startWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(self, append([]string{"serve", "--json", "--listen", "127.0.0.1:0", "--no-access-log"}, args...)...)}
	p.cmd.Env = append(append(os.Environ(), asCommand+"=1"), env...)
	p.log = new(logbook.Book)
	p.cmd.Stderr = io.MultiWriter(os.Stderr, p.log)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Listening string `json:"listening"`
	}
	if err := json.Unmarshal(line, &said); err != nil {
		t.Fatal(err)
	}
	p.url = said.Listening
	return p
}

func scratch(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// SIGTERM ends the relay cleanly, and a second start finds its data.
func TestTerminated(t *testing.T) {
	dir := t.TempDir()
	invites := filepath.Join(dir, "invites")
	if err := os.WriteFile(invites, []byte("# for friends\n\nfirst-code\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := storetest.NewHousehold(t, "terminated")
	for range 2 {
		p := start(t, "--data", filepath.Join(dir, "data"), "--invite-file", invites)
		r, err := remote.New(p.url, remote.Option{})
		if err != nil {
			t.Fatal(err)
		}
		space := r.Space(h.Space, h.Owner.ID, httpsig.KeySigner(h.Owner.Key))
		if err := space.AppendLog(t.Context(), h.Entries[0], "first-code"); err != nil {
			t.Fatal(err)
		}
		if es, err := space.Log(t.Context(), 0); err != nil || len(es) != 1 {
			t.Fatal(len(es), err)
		}
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
}

// A database without this program's tables is refused, with the command that creates them.
func TestDatabaseWithoutTables(t *testing.T) {
	var out bytes.Buffer
	code := run(t.Context(), []string{"serve", "--db", cluster.Database(t), "--blobs", "file://" + t.TempDir(), "--open"}, nil, &out, &out)
	if code != exitFailed || !strings.Contains(out.String(), "locket-cloud migrate up --db URL") {
		t.Errorf("%d: %s", code, out.String())
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"version", exitDone, "locket-cloud "},
		{"version --json", exitDone, `"release"`},
		{"--help", exitDone, "serve"},
		{"serve", exitUsage, "--data"},
		{"serve --data " + dir, exitUsage, "--open"},
		{"serve --data " + dir + " --open --invite-file x", exitUsage, "not both"},
		{"serve --data x --open --quota-spaces -1", exitUsage, "--quota-"},
		{"serve --data x --open --authority https://relay.example", exitUsage, "want only a name"},
		{"serve --data x --open --authority relay.example/", exitUsage, "want only a name"},
		{"serve --data x --open --authority [::1]:7440 --authority relay.example:8443 --otlp-ratio 2", exitUsage, "--otlp-ratio"},
		{"serve --data " + dir + " --open --tls-cert x", exitUsage, "--tls-key"},
		{"serve --data x --db postgres:///y --open", exitUsage, "not both"},
		{"serve --data x --blobs file:///y --open", exitUsage, "--blobs"},
		{"serve --db postgres:///y --open", exitUsage, "--blobs"},
		{"serve --db mysql:///y --blobs file:///y --open", exitUsage, "postgres://"},
		{"serve --db postgres:///y --blobs ftp://y --open", exitFailed, "s3://"},
		{"migrate", exitDone, "locket_relay"},
		{"migrate up", exitUsage, "--data"},
		{"migrate status --data " + dir + "/m", exitFailed, "relay.lock"},
		{"migrate up --data " + dir, exitDone, "00001_tables.sql"},
		{"migrate up --data " + dir, exitDone, "nothing to do"},
		{"migrate status --json --data " + dir, exitDone, `"applied":true`},
		{"migrate down --data " + dir, exitDone, "00003_records.sql"},
		{"migrate down --data " + dir, exitDone, "00002_sweep.sql"},
		{"migrate down --data " + dir, exitFailed, "--destroy"},
		{"serve --data x --open --otlp-ratio 2", exitUsage, "--otlp-ratio"},
		{"serve --data x --open --otlp-every 10ms", exitUsage, "--otlp-every"},
		{"serve --data x --open --otlp collector:4318", exitUsage, "http://127.0.0.1:4318"},
		{"serve --data x --open --acme a.example --tls-cert x --tls-key y", exitUsage, "--acme"},
		{"serve --db postgres:///y --blobs file:///y --open --acme a.example", exitUsage, "--acme-cache"},
		{"serve --data x --open --acme relay", exitUsage, "relay.example.org"},
		{"serve --data x --open --acme a.example:443", exitUsage, "without a port"},
		{"serve --data x --open --acme a.example --acme-directory http://a.example", exitUsage, "https://"},
		{"serve --data x --open --config " + dir + "/absent", exitUsage, "absent"},
		{"serve --data " + dir + " --open --listen 127.0.0.1:0 --pprof nowhere:x", exitFailed, "profiles"},
		{"serve --data x --open --proxy 10.0.0.0/33", exitUsage, "--proxy"},
		{"backup --data x", exitUsage, "FILE is missing"},
		{"backup --data x y z", exitUsage, `"z" is one argument too many`},
		{"backup --data x", exitUsage, "Usage: locket-cloud backup (--data DIR | --db URL --blobs URL) FILE"},
		{"jobs show --home x", exitUsage, "Try 'locket-cloud jobs show --help'."},
		{"worker nonsense", exitUsage, "Try 'locket-cloud worker --help'."},
		{"migrate down", exitUsage, "--data DIR or --db URL"},
		{"serve --nonsense", exitUsage, "nonsense"},
		{"nonsense", exitUsage, "nonsense"},
		{"sevre", exitUsage, "Did you mean: locket-cloud serve?"},
		{"worker jion", exitUsage, "Did you mean: locket-cloud worker join?"},
		{"serve --invit-file x", exitUsage, "Did you mean: --invite-file?"},
		{"version 2", exitUsage, `"2" is one argument too many`},
		{"serve --data " + dir + " --open --tls-cert x --tls-key y", exitFailed, "certificate"},
		{"serve --data " + dir + " --invite-file " + dir + "/absent", exitFailed, "invitations"},
		{"serve --data " + dir + " --open --listen nowhere:x --authority a.example", exitFailed, "listen"},
		{"serve --data " + dir + " --open --listen 0.0.0.0:0", exitUsage, "--authority"},
		{"serve --data x --open --connections-per-address 0", exitUsage, "--connections-per-address"},
		{"serve --data " + dir + " --open --listen 127.0.0.1:0 --metrics nowhere:x", exitFailed, "metrics"},
	} {
		var out bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &out); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %d: %s", c.args, code, out.String())
		}
	}
}
