package plugins

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/pack"
)

// TestBuiltFromSource: the embedded modules are those that the source makes.
func TestBuiltFromSource(t *testing.T) {
	b, err := files.ReadFile("bin/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := pack.ParseSums(b)
	if err != nil {
		t.Fatal(err)
	}
	if kept.Go != runtime.Version() {
		t.Fatalf("the plugins were built by %s, this is %s: run go tool task plugins, and commit wasm/plugins/bin", kept.Go, runtime.Version())
	}
	// These variables must not affect the result.
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("GOWASM", "satconv")
	list, err := pack.Build(context.Background(), ".")
	if err != nil {
		t.Fatal(err)
	}
	now := pack.SumsOf(list)
	if string(now.Format()) != string(kept.Format()) {
		t.Errorf("the plugins aren't what their source makes: run go tool task plugins, and commit wasm/plugins/bin\nkept:\n%snow:\n%s", kept.Format(), now.Format())
	}
}

// TestLoad: every built-in plugin can be loaded under its manifest and its hash, and accepts an
// event of each of its kinds.
func TestLoad(t *testing.T) {
	ctx := context.Background()
	list, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("All returned no plugins")
	}
	h, err := wasm.NewHost(ctx, wasm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(ctx)
	for i, b := range list {
		if i > 0 && list[i-1].Manifest.Stage > b.Manifest.Stage {
			t.Errorf("%s comes before %s", list[i-1].Manifest.ID, b.Manifest.ID)
		}
		p, err := h.LoadFrom(ctx, b.Open, b.Manifest, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b.Manifest.Takes("text") {
			// The longest text of an event is no fault either, whatever it repeats.
			for _, unit := range []string{"We talked about the garden, and on Friday I am going to Lisbon with Mira. ", "The password is Harbor4471Kite. ", "4 8 2 1 ",
				"I have a dentist appointment on Friday at 3pm, and ", "first half is 48 ", "abc:", "where is my key? it's in the drawer. ", "周五",
				"Leo, Max and Ann, ", "usually at 7 ", "Monday. At nine. "} {
				e := sample("text")
				e.Text = strings.Repeat(unit, 64<<10/len(unit))
				e.Before = []abi.Turn{{At: e.At, Speaker: "Mira", Text: e.Text}}
				if _, u, err := p.Extract(ctx, e); err != nil {
					t.Errorf("%s, %d bytes of %.20q: %v", b.Manifest.ID, len(e.Text), unit, err)
				} else {
					t.Logf("%s, %d bytes of %.20q: fuel %d, memory %d, %v", b.Manifest.ID, len(e.Text), unit, u.Fuel, u.Memory, u.Time)
				}
			}
		}
		for _, kind := range b.Manifest.Kinds {
			if _, u, err := p.Extract(ctx, sample(kind)); err != nil {
				t.Errorf("%s, %s: %v", b.Manifest.ID, kind, err)
			} else {
				t.Logf("%s, %s: fuel %d, memory %d, %v", b.Manifest.ID, kind, u.Fuel, u.Memory, u.Time)
			}
		}
	}
}

func sample(kind string) *abi.Event {
	e := &abi.Event{ID: "sample/1/1", Kind: kind, At: 1758706200123, Zone: "Europe/Berlin", Wearer: "Ada"}
	switch kind {
	case "text", "utterance":
		e.Lang, e.Speaker, e.Text = "en", "Ada", "My dentist appointment is on Friday at three, and the wifi password is sun-flower-42."
	case "photo":
		e.Width, e.Height = 64, 48
		e.Gray, e.RGB = make([]byte, 64*48), make([]byte, 3*64*48)
	}
	if kind == "audio" || kind == "utterance" {
		e.Rate, e.PCM = 16000, make([]byte, 2*16000)
	}
	return e
}

// TestSums: a module with a changed sum can't be loaded.
func TestSums(t *testing.T) {
	for _, bad := range []string{"", "x", "00  a.wasm", fmt.Sprintf("%064d  a.zst", 0)} {
		if _, err := pack.ParseSums([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	s := pack.Sums{Go: "go1.26.8", Sum: map[string]string{"b": fmt.Sprintf("%064d", 1), "a": fmt.Sprintf("%064d", 2)}}
	again, err := pack.ParseSums(s.Format())
	if err != nil || string(again.Format()) != string(s.Format()) {
		t.Errorf("%s, %v", again.Format(), err)
	}
}
