package omi

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// packed makes records of one frame of 20 ms each, with the given times.
func packed(epochs ...uint32) (b []byte) {
	for i, e := range epochs {
		rec := make([]byte, frame.RecordSize)
		rec[0], rec[1], rec[2], rec[3] = byte(e>>24), byte(e>>16), byte(e>>8), byte(e)
		rec[4], rec[5] = 1, byte(i+1)
		b = append(b, rec...)
	}
	return b
}

func TestStoredSound(t *testing.T) {
	opus, err := frame.ParseCodec([]byte{21})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		first uint64
		in    []byte
		end   bool
		want  string // seq@seconds+ms/bytes, ! for the last
	}{
		{"one run", 8, packed(100, 100, 100, 100), false, "8@100.000/6 10@100.040/6"},
		{"the end of the ring", 0, packed(100, 100), true, "0@100.000/6!"},
		{"a pause", 0, packed(100, 100, 200), true, "0@100.000/6! 2@200.000/3!"},
		{"back in time", 0, packed(100, 50), false, "0@100.000/3! 1@50.000/3"},
		{"within the second's blur", 0, packed(100, 101), false, "0@100.000/6"},
		{"no clock", 0, packed(0, 0, 100), false, "0@-/6! 2@100.000/3"},
		{"the clock is lost", 0, packed(100, 0), false, "0@100.000/3! 1@-/3"},
		{"since the device's start", 0, packed(1<<31|100, 1<<31|100, 1<<31|900), true, "0@-/6! 2@-/3!"},
		{"it gets a clock", 0, packed(1<<31|100, 100), false, "0@-/3! 1@100.000/3"},
		{"it loses its clock", 0, packed(100, 1<<31|100), false, "0@100.000/3! 1@-/3"},
		{"an empty record", 0, append(make([]byte, frame.RecordSize), packed(100)...), true, "1@100.000/3!"},
		{"nothing", 0, make([]byte, frame.RecordSize), true, ""},
	} {
		list, bad, err := storedSound(opus, 77, c.first, c.in, &flow{}, c.end)
		if err != nil || bad != 0 {
			t.Errorf("%s: %d, %v", c.name, bad, err)
		}
		var got []string
		for _, m := range list {
			at := "-"
			if !m.At.IsZero() {
				at = fmt.Sprintf("%.3f", float64(m.At.UnixMilli())/1000)
			}
			s := fmt.Sprintf("%d@%s/%d", m.Seq, at, len(m.Data))
			if m.Last {
				s += "!"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// The blocks of a file that the device has deleted say nothing about whether all of the next file
// came. That file would be deleted, too.
func TestLegacyCountsTheBlocksOfOneFile(t *testing.T) {
	file, err := carry.OpenState(filepath.Join(t.TempDir(), "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &carry.Conn{Report: &carry.Report{}}
	c.State, c.OnNote = file, func(carry.Note) {}
	d := &legacy{s: &session{Conn: c}, phase: advancing, used: 3 * frame.LegacyBlock, safe: map[uint64]bool{1: true, 2: true, 3: true}}
	if err := d.notified(t.Context(), []byte{byte(frame.LegacyDeleted)}); err != nil {
		t.Fatal(err)
	}
	d.used, d.pos = 2*frame.LegacyBlock, frame.LegacyBlock // of the next file, one of two blocks came
	if d.complete() {
		t.Error("the next file counts as complete")
	}
}

// named is a device with a model name.
type named struct {
	link.Device
	model string
}

func (n named) Read(context.Context, string) ([]byte, error) { return []byte(n.model), nil }

// A long name of a model is cut between two characters; with half of one, the node would refuse
// what says which device it is.
func TestLongModelName(t *testing.T) {
	s := &session{Conn: &carry.Conn{Dev: named{model: strings.Repeat("a", 63) + "é"}}}
	if got := s.text(t.Context(), frame.ModelChar); got != strings.Repeat("a", 63) {
		t.Errorf("%q", got)
	}
}
