package rules

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/internal/testing/mangle"
	"github.com/locket-dev/locket/wasm/abi"
)

// Damaged text is read without a panic, and gives valid candidates.
func TestMangled(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := mangle.Lines(t, files...)
	var state []byte
	mangle.Each(t, 20000, lines, func(r *rand.Rand, line string) {
		ev := &abi.Event{ID: "x", At: 1790000000000 + r.Int64N(1<<40), Offset: 3600, Speaker: "Tom", Wearer: "Mei", Text: line, State: state}
		if r.IntN(2) == 0 {
			ev.Before = []abi.Turn{{At: ev.At - 1000, Speaker: "Mei", Text: mangle.Line(r, lines)}}
		}
		state = checked(t, ev).State
	})
}

// A turn whose speaker is unknown does not make somebody without a name known.
func TestNamelessSpeaker(t *testing.T) {
	ev := &abi.Event{ID: "x", At: 1790000000000, Offset: 3600, Speaker: "Tom", Wearer: "Mei", Text: "的班主任是李老师", Before: []abi.Turn{{At: 1789999999000, Text: "你好"}}}
	if out := checked(t, ev); len(out.Candidates) > 0 {
		t.Errorf("%+v", out.Candidates)
	}
}
