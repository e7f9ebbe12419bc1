package plugins

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

var memoryCalls = flag.Int("calls", 600, "how many lines TestMemoryLevelsOff gives each plugin; fewer than 10,000, when a host starts it anew")

// levelMemory is the most memory of a plugin in Go that keeps nothing between calls. It begins with
// 5 MiB, and its collector first runs when 4 MiB more are taken. A linear memory never shrinks.
const levelMemory = 10<<20 + 512<<10

// The memory of each text plugin grows until its collector runs, and not from then on.
func TestMemoryLevelsOff(t *testing.T) {
	ctx := context.Background()
	list, err := All()
	if err != nil {
		t.Fatal(err)
	}
	h, err := wasm.NewHost(ctx, wasm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(ctx)
	nouns := strings.Fields("amber ladder violin harbour pepper candle meadow anchor basket copper daisy engine feather garden hammer island")
	names := []string{"Rita", "Tom", "Ines", "Paul", "Marta"}
	places := []string{"Lisbon", "Porto", "Vienna", "Oslo", "Ghent"}
	for _, b := range list {
		if !b.Manifest.Takes("text") {
			continue
		}
		p, err := h.LoadFrom(ctx, b.Open, b.Manifest, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(22, 1))
		e := sample("text")
		memory, last := 0, 0
		for i := range *memoryCalls {
			e.ID, e.At, e.Text = fmt.Sprintf("sample/%d/1", i), e.At+500, fmt.Sprintf("Note %d:", i)
			for range 8 {
				e.Text += " " + nouns[r.IntN(len(nouns))]
			}
			if i%4 == 0 {
				e.Text = fmt.Sprintf("My friend %s lives in %s. %s.", names[r.IntN(len(names))], places[r.IntN(len(places))], e.Text)
			}
			out, u, err := p.Extract(ctx, e)
			if err != nil {
				t.Fatalf("%s: %v", b.Manifest.ID, err)
			}
			if u.Memory != memory {
				memory, last = u.Memory, i
			}
			e.State = bytes.Clone(out.State)
			e.Before = append(e.Before, abi.Turn{ID: e.ID, At: e.At, Speaker: e.Speaker, Text: e.Text})
			e.Before = e.Before[max(0, len(e.Before)-8):]
		}
		t.Logf("%s: %.1f MiB since call %d", b.Manifest.ID, float64(memory)/(1<<20), last)
		if memory > levelMemory {
			t.Errorf("%s has %d bytes after %d lines, and grew last at line %d", b.Manifest.ID, memory, *memoryCalls, last)
		}
	}
}
