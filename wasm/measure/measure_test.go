package measure

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins"
)

// A built-in plugin gives the same answer with fuel and without.
func TestSameAnswers(t *testing.T) {
	all, err := plugins.All()
	if err != nil {
		t.Fatal(err)
	}
	var module []byte
	for _, b := range all {
		if b.Manifest.ID == "scene" {
			if module, err = b.Open(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ev := abi.Event{ID: "pin/1/1", Kind: "photo", At: 1, Width: 64, Height: 64, Gray: make([]byte, 64*64)}
	for i := range ev.Gray {
		ev.Gray[i] = byte(i * i)
	}
	input := abi.AppendEvent(nil, &ev)
	var answers [][]byte
	for _, fuelled := range []bool{false, true} {
		g, err := Open(context.Background(), module, fuelled)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		answer, failed, err := g.Call(input)
		if err != nil || failed {
			t.Fatalf("fuelled %t: refused %t: %v", fuelled, failed, err)
		}
		var out abi.Output
		if err := abi.DecodeOutput(answer, abi.Limits{}, &out); err != nil || len(out.Annotations) == 0 {
			t.Errorf("fuelled %t: %+v, %v", fuelled, out, err)
		}
		answers = append(answers, bytes.Clone(answer))
		if g.Compile <= 0 || g.Instantiate <= 0 || g.Memory() < abi.PageSize || (g.tank != nil) != fuelled {
			t.Errorf("fuelled %t: %+v", fuelled, g)
		}
		if n := testing.AllocsPerRun(20, func() {
			if _, _, err := g.Call(input); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("fuelled %t: %v allocations a call", fuelled, n)
		}
		if _, failed, err := g.Call([]byte{0xff}); err != nil || !failed {
			t.Errorf("no event: refused %t, %v", failed, err)
		}
		if _, _, err := g.Call(make([]byte, abi.MaxInput+1)); !errors.Is(err, errAnswer) {
			t.Errorf("too large: %v", err)
		}
	}
	if !bytes.Equal(answers[0], answers[1]) {
		t.Errorf("%x without fuel, %x with", answers[0], answers[1])
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, module := range map[string][]byte{
		"nothing":         nil,
		"no wasm":         []byte("hello"),
		"without exports": {0, 'a', 's', 'm', 1, 0, 0, 0},
	} {
		for _, fuelled := range []bool{false, true} {
			if g, err := Open(context.Background(), module, fuelled); err == nil {
				t.Errorf("%s is taken: %+v", name, g)
			}
		}
	}
}
