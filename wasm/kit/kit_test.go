package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/wasm"
)

// built is testdata/guest, built once.
var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "locket-kit-guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, msg)
	}
	return os.ReadFile(file)
})

// guest returns a function that makes the module for a mode.
func guest(t *testing.T) (in func(mode string) []byte) {
	t.Helper()
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	const mark = "MODE:good            "
	if bytes.Count(b, []byte(mark)) != 1 {
		t.Fatalf("the mark is %d times in the module", bytes.Count(b, []byte(mark)))
	}
	return func(mode string) []byte {
		return bytes.Replace(b, []byte(mark), fmt.Appendf(nil, "MODE:%-16s", mode), 1)
	}
}

func manifest(caps ...wasm.Capability) wasm.Manifest {
	return wasm.Manifest{ID: "guest", Version: "1.0.0", ABI: 1, Title: "t", Kinds: []string{"text", "button"}, Types: []string{"semantic"}, Capabilities: caps}
}

// Each violation of the contract is found by its check, and a plugin that fulfils the contract
// passes all checks.
func TestKit(t *testing.T) {
	ctx := context.Background()
	module, cache := guest(t), t.TempDir()
	r, err := Run(ctx, module("good"), manifest(), Options{Repeat: 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Result == Failed {
			t.Errorf("good: %s: %s", c.Name, c.Detail)
		}
	}
	if !r.Passed || len(r.Checks) != len(checks) || r.Peak.Fuel.Used == 0 || r.Peak.Candidates.Used != 1 {
		t.Errorf("%+v", r)
	}
	for mode, c := range map[string]struct{ check, says string }{
		"trusting": {"malformed input", "trapped"},
		"lax":      {"malformed input", "taken for an event"},
		"closed":   {"input of a later version", "with the key 48"},
		"leak":     {"memory settles", "after 200"},
		"greedy":   {"much to find", "output.candidates: over the limit"},
		"counts":   {"deterministic", "after other events the answer differs"},
		"fails":    {"good input", "plugin reports failed"},
		"outside":  {"good input", "output.candidates[0].spans[0]"},
		"loops":    {"largest input", "out of fuel"},
		"state":    {"foreign state", "not its own"},
	} {
		t.Run(mode, func(t *testing.T) {
			m := manifest()
			if mode == "state" {
				m = manifest(wasm.CapState)
			}
			m.Limits.MemoryMiB = 64
			check, err := just(ctx, t, cache, module(mode), m, c.check)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", check, err, c.says)
			}
			if _, err := just(ctx, t, cache, module("good"), m, c.check); err != nil && !errors.Is(err, errSkip) {
				t.Errorf("%s, of a good one: %v", check, err)
			}
		})
	}
}

// just runs one check after those that it requires.
func just(ctx context.Context, t *testing.T, cache string, module []byte, m wasm.Manifest, name string) (string, error) {
	t.Helper()
	r := &run{opt: Options{Repeat: 200}, module: module, manifest: m, cache: cache}
	if name != "good input" {
		if _, err := r.good(ctx); err != nil {
			t.Fatalf("good input: %v", err)
		}
	}
	for _, c := range checks {
		if c.name == name {
			return c.run(r, ctx)
		}
	}
	t.Fatalf("no check is called %q", name)
	return "", nil
}

// The advice for a missing grant is to change the manifest, and not to shorten the answer.
func TestAdviceOnGrants(t *testing.T) {
	m := manifest()
	m.Types = []string{"episodic"}
	_, err := just(t.Context(), t, t.TempDir(), guest(t)("good"), m, "good input")
	f, ok := errors.AsType[*failure](err)
	if !ok || !strings.Contains(f.what, "output.candidates[0].type: not granted") || !strings.Contains(f.advice, "plugin.toml") {
		t.Errorf("%+v", err)
	}
}

func TestCases(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.json", `{"event":{"kind":"text","text":"his number"},"want":[{"type":"semantic","text":"a number"}]}`)
	write("b.json", `{"event":{"kind":"text","text":"hello"},"want":[]}`)
	write("c.json", `{"event":{"kind":"text","text":"number number"}}`)
	list, err := ReadCases(dir)
	if err != nil || len(list) != 3 || list[1].Want == nil || list[2].Want != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	write("d.json", `{"event":{"kind":"text","text":"his number"},"want":[{"text":"another"}]}`)
	write("e.json", `{"event":{"kind":"photo"},"want":[]}`)
	write("f.json", `{"event":{"kind":"text","text":"hello"},"want":[{}]}`)
	if list, err = ReadCases(dir); err != nil {
		t.Fatal(err)
	}
	module := guest(t)("good")
	r := &run{opt: Options{Cases: list}, module: module, manifest: manifest(), cache: t.TempDir()}
	_, err = r.cases(context.Background())
	for _, want := range []string{`d: candidate 1: text is "a number", want "another"`, `e: plugin.toml does not ask`, `f: 0 candidates, want 1: nothing`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %q", err, want)
		}
	}
	for _, bad := range []string{`{`, `{"event":{"kind":"text","txt":"x"}}`, `{"event":{}}`, `{"event":{"kind":"text"}} {}`} {
		write("g.json", bad)
		if _, err := ReadCases(dir); err == nil || !strings.Contains(err.Error(), "g.json") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestRecordAndReplay(t *testing.T) {
	ctx := context.Background()
	module := guest(t)
	dir := filepath.Join(t.TempDir(), "answers")
	n, err := Record(ctx, module("good"), manifest(), Options{}, dir)
	if err != nil || n != len(goodEvents(&wasm.Manifest{Kinds: []string{"text", "button"}})) {
		t.Fatal(n, err)
	}
	if _, err := Record(ctx, module("good"), manifest(), Options{}, dir); err == nil {
		t.Error("records were written over")
	}
	rep, err := Replay(ctx, module("good"), manifest(), Options{}, dir)
	if err != nil || rep.Records != n || len(rep.Differ) > 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	rep, err = Replay(ctx, module("fails"), manifest(), Options{}, dir)
	if err != nil || len(rep.Differ) == 0 || !strings.Contains(rep.Differ[0].What, "is the error") {
		t.Errorf("%+v, %v", rep, err)
	}
	// One changed bit of a recorded answer is detected.
	file := filepath.Join(dir, "003.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rec record
	if err := json.Unmarshal(b, &rec); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*record){
		func(r *record) { r.Answer[len(r.Answer)-1] ^= 1 },
		func(r *record) { r.Fuel++ },
		func(r *record) { r.Error = "x" },
	} {
		was := rec
		was.Answer = bytes.Clone(rec.Answer)
		change(&was)
		b, err := json.Marshal(was)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		rep, err := Replay(ctx, module("good"), manifest(), Options{}, dir)
		if err != nil || len(rep.Differ) != 1 || rep.Differ[0].File != "003.json" {
			t.Errorf("%+v, %v", rep, err)
		}
	}
	if _, err := Replay(ctx, module("good"), manifest(), Options{}, t.TempDir()); err == nil {
		t.Error("a folder without records was replayed")
	}
}
