package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locket-bridge": func() {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}})
}

// disk is a real journal that remembers the kinds of events that it accepted.
type disk struct {
	j     *journal.Journal
	mu    sync.Mutex
	kinds []string
}

func (d *disk) Append(ctx context.Context, events []memory.Event) error {
	var entries [][]byte
	for i := range events {
		b, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		entries = append(entries, b)
	}
	if _, err := d.j.Append(ctx, entries...); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range events {
		d.kinds = append(d.kinds, string(e.Kind))
	}
	return nil
}

type registry struct{ hash string }

func (r registry) Lookup(name string) (string, bool) { return r.hash, name == "omi" || name == "phone" }

type diskKey struct{}

// TestScripts runs testdata/script in separate processes, against a real broker and, over D-Bus, a
// device simulated by python-dbusmock.
func TestScripts(t *testing.T) {
	scenario := linktest.Scenario{
		Address: "D0:12:34:56:78:9A", Name: "Omi", MTU: 247,
		Reads: map[string]string{"19b10002-e8f2-537e-4f6c-d104768a1214": "15"},
		Notify: []map[string][]string{{
			"19b10001-e8f2-537e-4f6c-d104768a1214": {"000000b801", "010000b802", "030000b803"},
			"23ba7925-0000-1000-7450-346eac492e92": {"0300000000000000"},
		}},
	}
	day, err := filepath.Abs("../../testdata/day/day.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	// It sends only on its first connection, so two scripts can't share it.
	z, second := linktest.Start(t, scenario), linktest.Start(t, scenario)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			bus := z.Bus
			if strings.HasSuffix(e.WorkDir, "script-run") {
				bus = second.Bus
			}
			cred, hash, err := intake.NewDevice("omi")
			if err != nil {
				return err
			}
			d := &disk{}
			if d.j, err = journal.Open(e.WorkDir+"/journal", seal.NewIdentity().Recipient(), journal.Options{}); err != nil {
				return err
			}
			in := intake.New(intake.Config{Journal: d, Log: slog.New(slog.DiscardHandler)})
			b, err := intake.Listen(in, intake.BrokerConfig{Addr: "127.0.0.1:0", Devices: registry{hash}})
			if err != nil {
				return err
			}
			e.Defer(func() { _, _, _ = b.Close(), in.Close(), d.j.Close() })
			e.Values[diskKey{}] = d
			e.Vars = append(e.Vars, "DAY="+day, "BROKER=tcp://"+b.Addr().String(), "XDG_STATE_HOME="+e.WorkDir+"/state",
				"HOME="+e.WorkDir, "DBUS_SYSTEM_BUS_ADDRESS="+bus)
			two := "broker = \"tcp://" + b.Addr().String() + "\"\n" + `
[[device]]
family = "owntracks"
name = "phone"
password_file = "password"
from = "tcp://127.0.0.1:1"
device = "jane/phone"

[[device]]
family = "omi"
name = "omi"
password_file = "password"
device = "Omi"
storage = true

[[device]]
family = "screen"
name = "desk"
password_file = "password"
`
			if err := os.WriteFile(e.WorkDir+"/two.toml", []byte(two), 0o600); err != nil {
				return err
			}
			return os.WriteFile(e.WorkDir+"/password", []byte(cred.Password+"\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "journal": journalled, "until": until},
	})
}
