package day

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

func TestEventsOfADay(t *testing.T) {
	for _, d := range append([]*Day{mustFixed(t)}, mustMake(t)[:3]...) {
		next, lines, last := map[string]uint64{}, map[int]bool{}, 0
		var sound [][]byte
		for e := range d.Events() {
			lines[e.Line] = true
			if e.Line < last {
				t.Fatalf("line %d comes after line %d", e.Line, last)
			}
			last = e.Line
			next[e.ID.Device]++
			l, ok := d.Line(e.Line)
			if !ok || l.Kind != e.Kind || l.Device != e.ID.Device {
				t.Fatalf("%v is not of line %d", e.ID, e.Line)
			}
			if e.Kind == memory.KindGap {
				if e.Missing.From != next[e.ID.Device] || e.Missing.To-e.Missing.From+1 != l.Missing {
					t.Errorf("gap %v: %d to %d", e.ID, e.Missing.From, e.Missing.To)
				}
				next[e.ID.Device] += l.Missing
			}
			if e.ID.Seq != next[e.ID.Device] || e.ID.Boot != DayBoot {
				t.Fatalf("%v: want seq %d", e.ID, next[e.ID.Device])
			}
			if e.Zone != d.Zone || e.Clock != memory.ClockWall || !e.Received.IsZero() {
				t.Fatalf("%v: zone %q, clock %q, received %v", e.ID, e.Zone, e.Clock, e.Received)
			}
			switch e.Kind {
			case memory.KindAudio:
				part, err := wire.Packets(e.Data)
				if err != nil || e.Codec != "opus" {
					t.Errorf("%v: %s, %v", e.ID, e.Codec, err)
				}
				sound = append(sound, part...)
				file, _ := d.File(l.File)
				want, _, err := media.ReadOpus(file)
				if err != nil {
					t.Fatal(err)
				}
				same := func(got []byte, want media.Packet) bool { return bytes.Equal(got, want.Data) }
				if e.Last != (len(sound) == len(want)) || e.Last && !slices.EqualFunc(sound, want, same) {
					t.Errorf("%v: last is %v after %d of %d packets", e.ID, e.Last, len(sound), len(want))
				}
			case memory.KindPhoto:
				if e.Codec != "jpeg" && e.Codec != "png" || len(e.Data) == 0 {
					t.Errorf("%v: %s, %d bytes", e.ID, e.Codec, len(e.Data))
				}
			}
			if n, ok := d.LineOf(e.ID); !ok || n != e.Line {
				t.Fatalf("LineOf(%v) is %d, %v", e.ID, n, ok)
			}
		}
		if len(lines) != len(d.Lines) {
			t.Errorf("%d of %d lines have events", len(lines), len(d.Lines))
		}
		if len(sound) == 0 {
			t.Error("no sound")
		}
	}
	if _, ok := mustFixed(t).LineOf(memory.EventID{Device: "pin", Boot: 1, Seq: 1 << 40}); ok {
		t.Error("an event that is not of the day has a line")
	}
}

func TestEventsIteratorStops(t *testing.T) {
	n := 0
	for range mustFixed(t).Events() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestSoundIsCutBySeconds(t *testing.T) {
	at := time.Date(2026, 9, 14, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct{ rate, samples, parts, lastBytes int }{
		{16000, 0, 1, 0}, {16000, 1, 1, 2}, {16000, 16000, 1, 32000}, {16000, 16001, 2, 2}, {8000, 20000, 3, 8000}, {44100, 44100*2 + 7, 3, 14},
	} {
		es := soundEvents(Event{Event: memory.Event{At: at}}, media.Sound{Rate: c.rate, PCM: make([]byte, 2*c.samples)})
		end := es[len(es)-1]
		if len(es) != c.parts || len(end.Data) != c.lastBytes || !end.Last || !end.At.Equal(at.Add(time.Duration(c.parts-1)*time.Second)) {
			t.Errorf("%+v: %d parts, the last of %d bytes at %v", c, len(es), len(end.Data), end.At)
		}
	}
}
