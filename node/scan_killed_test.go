package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/abi"
)

// scanEnv holds the [scanning] of a child process, as JSON.
const scanEnv = "LOCKET_NODE_TEST_SCAN"

// scanning is a home that receives a worker's words, with the folder of its
// compiled plugins.
type scanning struct{ Home, Cache string }

func (s scanning) open(ctx context.Context) (*Node, error) {
	n, err := Open(s.config(), Options{Cache: s.Cache})
	if err != nil {
		return nil, err
	}
	_, err = n.UnlockAsConfigured(ctx)
	return n, err
}

func (s scanning) config() config.Config {
	cfg := config.Config{Home: s.Home, Wearer: "Ana", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 1e6}}
	cfg.Plugins.Disabled = []string{"speech", "scene", "howto", "plans", "language", "facts"}
	cfg.Defaults()
	return cfg
}

// leaked is what a worker sends although it should have held it back: a memory and
// a line.
const leaked = "so the wifi password is tulip-42-harbor, write it down"

var leakedMemory, leakedLine = memory.ID{3}, memory.ID{4}

// comes takes in a worker's words as they arrive through a grant of the wearer's
// space.
func comes(ctx context.Context, n *Node) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	at := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	c := memory.Candidate{Type: memory.Resource, Text: "Transcript", Owner: memory.Owner{User: memory.WearerUser}, Confidence: .5, Sensitivity: memory.Private,
		Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, At: at}}, Source: memory.Source{Plugin: "worker/transcribe"}}
	c.Fields.Resource = &memory.ResourceFields{Title: "x", MediaType: "text/plain", Content: leaked}
	a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{9}, Seq: 1}, Clock: memory.Clock{Wall: at.UnixMilli()}, Rank: memory.RankCloud, Space: o.ring.Space(),
		Memory: leakedMemory, Act: memory.ActPropose, Candidate: &c, Source: c.Source}
	u := memory.Utterance{ID: leakedLine, Space: o.ring.Space(), Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, Session: "s", At: at, Text: leaked, Source: memory.Source{Plugin: "worker/transcribe"}}
	return o.sync.Journal().Write(ctx, func(tx *store.Tx) error {
		_, err := tx.AssertRemote(a)
		return errors.Join(err, tx.PutRemoteUtterance(&u))
	})
}

// deadly kills the process when it is asked to look for secrets.
type deadly struct{ extract.Plugin }

func (deadly) Extract(context.Context, *abi.Event) (abi.Output, error) {
	me, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = me.Kill() // it does not return
	}
	return abi.Output{}, err
}

// runScan takes in a worker's words, and is killed when it looks for secrets in
// them.
func runScan() error {
	var s scanning
	if err := json.Unmarshal([]byte(os.Getenv(scanEnv)), &s); err != nil {
		return err
	}
	n, err := s.open(context.Background())
	if err != nil {
		return err
	}
	var plugins []extract.Plugin
	for _, p := range n.open.plugins.Chain() {
		plugins = append(plugins, deadly{p})
	}
	n.open.extract.SetPlugins(plugins)
	return fmt.Errorf("it ended by itself: %w", comes(context.Background(), n))
}

// A worker's words are never stored unscanned: if the process is killed before
// they are scanned, it leaves nothing of them. When they arrive again, those that
// hold a secret are reported, and are not stored, either.
func TestKilledBeforeTheScan(t *testing.T) {
	s := scanning{filepath.Join(t.TempDir(), "home"), compiled}
	if _, err := Init(s.config(), InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), scanEnv+"="+string(b))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	n, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	absent := func(when string) {
		t.Helper()
		if m, err := n.Get(t.Context(), leakedMemory); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%s: the memory is here: %+v, %v", when, m.Fields.Resource, err)
		}
		if hits := search(t, n, serve.SearchRequest{Query: "wifi password tulip"}); len(hits) > 0 {
			t.Errorf("%s: %+v is found", when, hits)
		}
		for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(r.Data), "tulip-42") {
				t.Errorf("%s: the export has %s", when, r.Data)
			}
		}
	}
	absent("killed")
	if refusals, err := n.Refusals(t.Context(), 5); err != nil || len(refusals) != 0 {
		t.Errorf("killed: %+v, %v", refusals, err)
	}
	for _, when := range []string{"scanned", "once more"} {
		if err := comes(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		absent(when)
		refusals, err := n.Refusals(t.Context(), 5)
		if err != nil || !slices.ContainsFunc(refusals, func(r serve.RefusedLine) bool { return r.Kind == "secret" }) {
			t.Errorf("%s: %+v, %v", when, refusals, err)
		}
	}
}
