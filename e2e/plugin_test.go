package e2e

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/bundle"
)

// Each template is generated, built from its source by its toolchain, tested by the kit, compared
// in strictness with the host's own decoder, signed, installed on a running node, and finds what it
// is made for in a day. A missing toolchain fails the test: .ci/needs installs them.
func TestTemplates(t *testing.T) {
	work := t.TempDir()
	h := newHome(t)
	h.env = append(h.env, "XDG_CONFIG_HOME="+work)
	h.start()
	h.must("plugin", "keygen", "--no-passphrase")
	for _, lang := range []string{"go", "rust", "c", "as"} {
		dir := filepath.Join(work, lang)
		h.must("plugin", "new", lang, "ci/"+lang+"-example", "--dir", dir)
		h.must("plugin", "build", dir)
		var report struct {
			Passed bool `json:"passed"`
		}
		h.mustJSON(&report, "plugin", "test", dir)
		if !report.Passed {
			t.Errorf("%s does not keep the contract", lang)
		}
		asStrict(t, lang, dir)
		file := filepath.Join(work, lang+bundle.Extension)
		h.must("plugin", "sign", dir, "--output", file)
		h.must("plugin", "install", file, "--yes")
	}
	day := filepath.Join(work, "day.txt")
	const said = "Ana: Please remember that the boiler needs service in March.\nAna: I parked on level 3, row B.\n" +
		"Ana: Tom's number is 555 0134.\nAna: I lent my drill to Tom.\n"
	if err := os.WriteFile(day, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("replay", day)
	for _, want := range []string{"To remember: the boiler needs service in March", "Ana's car is on level 3, row B", "Tom's number is 555 0134", "Ana lent the drill to Tom"} {
		h.eventually(want, func(s string) bool { return strings.Contains(s, want) }, "list", "--type", "semantic")
	}
	if err := h.d.stop(t); err != nil {
		t.Error(err)
	}
}

// asStrict compares a template's reader with package abi's: each of some thousand changed messages
// is refused by both, for the same reason, or by neither.
func asStrict(t *testing.T, lang, dir string) {
	t.Helper()
	ctx := context.Background()
	p, err := bundle.ReadPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	host, err := wasm.NewHost(ctx, wasm.Options{Idle: -1, MaxFaults: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close(ctx)
	pl, err := host.Load(ctx, p.Module, m)
	if err != nil {
		t.Fatal(err)
	}
	vector, err := os.ReadFile("../wasm/abi/testdata/event-v1.cbor")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile("../wasm/abi/testdata/event-v1-memories.cbor")
	if err != nil {
		t.Fatal(err)
	}
	small := abi.AppendEvent(nil, &abi.Event{Kind: "sensor", At: -1, Values: []float64{0, 1.5, -2}, Before: []abi.Turn{{ID: "é", At: 9}, {}}})
	halves := []byte("\xa3\x00\x01\x02\x66sensor\x11\x85\xf9\x3c\x00\xf9\x00\x01\xfa\x3f\x00\x00\x00\x01\x20")
	later := []byte("\xa3\x00\x01\x18\x30\x84\xa1\x61a\xf6\xf9\x7e\x00\xf4\x82\x80\x41x\x02\x64text")
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 6000 {
		b := bytes.Clone([][]byte{vector, shown, small, halves, later}[n%5])
		switch {
		case n < 5:
		case n%3 == 0:
			b = b[:rng.IntN(len(b))]
		default:
			for range 1 + rng.IntN(2) {
				b[rng.IntN(len(b))] = byte(rng.Uint32())
			}
		}
		want := abi.DecodeEvent(b, new(abi.Event))
		got, _, err := pl.Raw(ctx, &abi.Event{}, b)
		if err != nil {
			t.Fatalf("%s: %x: %v", lang, b, err)
		}
		var refused *abi.Error
		code := abi.Code(0)
		if errors.As(want, &refused) {
			code = refused.Code
		}
		have := abi.Code(0)
		if got.Failed {
			if have, _, err = abi.DecodeError(got.Bytes); err != nil {
				t.Fatalf("%s: its error %x: %v", lang, got.Bytes, err)
			}
		}
		if have != code {
			t.Fatalf("%s: %x: code %d, abi says %d (%v)", lang, b, have, code, want)
		}
	}
}

// Every command of the tutorial runs, in order, and has the promised result.
func TestTutorial(t *testing.T) {
	b, err := os.ReadFile("../docs/tutorial-plugin.md")
	if err != nil {
		t.Fatal(err)
	}
	script := "set -eu\nexport PATH=" + bin + ":$PATH\n"
	blocks := 0
	for rest := string(b); ; blocks++ {
		var block string
		var ok bool
		if _, rest, ok = strings.Cut(rest, "```sh\n"); !ok {
			break
		}
		if block, rest, ok = strings.Cut(rest, "```\n"); !ok {
			t.Fatal("a block without an end")
		}
		script += block
	}
	if blocks < 8 {
		t.Fatalf("the tutorial has %d blocks of commands", blocks)
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = t.TempDir()
	// Go's caches are kept.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_RUNTIME_DIR=", "LOCKET_HOME=", "GOCACHE="+strings.TrimSpace(string(cache)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"The plugin fulfils the contract", "own cases                2 as they should be", "It reads each line that is said", "Installed ann/birthdays 0.1.0",
		"Rita's birthday is on 4 May", "Tom's birthday is on 9 August", "byte by byte", "Upgraded ann/birthdays from 0.1.0 to 0.2.0", "Removed ann/birthdays",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("what the commands print has no %q:\n%s", want, out)
		}
	}
}
