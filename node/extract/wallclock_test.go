package extract

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// clock is a script whose times are wall clock.
type clock struct{ script }

func (*clock) UsesLocalTime() bool { return true }

// TestInstant: what the wearer's clock shows on another day becomes an instant with the
// offset of that day.
func TestInstant(t *testing.T) {
	for _, c := range []struct{ zone, at, wall, want string }{
		{"Europe/Berlin", "2026-11-20T10:00:00+01:00", "2027-06-03T09:00", "2027-06-03T09:00:00+02:00"},
		{"Europe/Berlin", "2026-11-20T10:00:00+01:00", "2027-06-03T00:00", "2027-06-03T00:00:00+02:00"}, // a whole day
		{"Europe/Berlin", "2026-06-20T10:00:00+02:00", "2026-11-03T09:00", "2026-11-03T09:00:00+01:00"},
		{"Europe/Berlin", "2026-06-20T10:00:00+02:00", "2026-11-03T00:00", "2026-11-03T00:00:00+01:00"},
		{"Europe/Berlin", "2026-06-20T10:00:00+02:00", "2026-07-03T09:00", "2026-07-03T09:00:00+02:00"},
		{"Europe/Berlin", "2026-06-20T10:00:00+02:00", "2026-06-20T10:00", "2026-06-20T10:00:00+02:00"}, // now
		{"Europe/Berlin", "2026-11-20T10:00:00+01:00", "2026-08-03T09:00", "2026-08-03T09:00:00+02:00"}, // past
		{"America/New_York", "2026-11-20T10:00:00-05:00", "2027-06-03T21:00", "2027-06-03T21:00:00-04:00"},
		{"America/New_York", "2026-06-20T10:00:00-04:00", "2026-12-24T23:30", "2026-12-24T23:30:00-05:00"},
		{"Asia/Shanghai", "2026-11-20T10:00:00+08:00", "2027-06-03T09:00", "2027-06-03T09:00:00+08:00"},
		{"UTC", "2026-11-20T10:00:00Z", "2027-06-03T09:00", "2027-06-03T09:00:00Z"},
		// 02:30 does not exist: the clock goes from 02:00 to 03:00.
		{"Europe/Berlin", "2026-11-20T10:00:00+01:00", "2027-03-28T02:30", "2027-03-28T03:30:00+02:00"},
		{"Europe/Berlin", "2026-10-01T10:00:00+02:00", "2027-03-28T02:30", "2027-03-28T03:30:00+02:00"},
		{"Europe/Berlin", "2026-11-20T10:00:00+01:00", "2027-03-28T01:59", "2027-03-28T01:59:00+01:00"},
		{"Europe/Berlin", "2026-11-20T10:00:00+01:00", "2027-03-28T03:00", "2027-03-28T03:00:00+02:00"},
		// 02:30 exists twice: the one with the event's offset, or the first.
		{"Europe/Berlin", "2026-10-25T02:40:00+01:00", "2026-10-25T02:30", "2026-10-25T02:30:00+01:00"},
		{"Europe/Berlin", "2026-10-25T02:40:00+02:00", "2026-10-25T02:30", "2026-10-25T02:30:00+02:00"},
		{"Europe/Berlin", "2026-10-24T10:00:00+02:00", "2026-10-25T03:00", "2026-10-25T03:00:00+01:00"},
		// An offset of half an hour, and the other half of the year.
		{"Australia/Lord_Howe", "2026-07-01T10:00:00+10:30", "2026-12-24T09:00", "2026-12-24T09:00:00+11:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at := must(t, time.RFC3339, c.at)
		_, offset := at.In(zone).Zone()
		ms := must(t, "2006-01-02T15:04", c.wall).UnixMilli() - int64(offset)*1000 // as a plugin computes it
		if got := time.UnixMilli(instant(ms, at, zone)).In(zone).Format(time.RFC3339); got != c.want {
			t.Errorf("%s, said at %s: %s, want %s", c.wall, c.at, got, c.want)
		}
	}
}

func must(t *testing.T, layout, s string) time.Time {
	t.Helper()
	at, err := time.Parse(layout, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestLocalTimes: for a plugin that gives wall clock, each time of its candidates is
// converted; for one that gives instants, they stay.
func TestLocalTimes(t *testing.T) {
	at := must(t, time.RFC3339, "2026-11-20T10:00:00+01:00")
	june := func(hour int) int64 { return time.Date(2027, 6, 3, hour-1, 0, 0, 0, time.UTC).UnixMilli() } // November's offset
	answer := func(text string) func(*abi.Event) (abi.Output, error) {
		return func(ev *abi.Event) (abi.Output, error) {
			if ev.Offset != 3600 {
				t.Errorf("offset %d", ev.Offset)
			}
			return abi.Output{Candidates: []abi.Candidate{
				{Type: "episodic", Text: text + " exam", Confidence: .9, EventType: "appointment", Started: june(9), Ended: june(11), TrueFrom: june(9), TrueTo: june(12), Expires: june(13)},
				{Type: "episodic", Text: text + " said", Confidence: .9, EventType: "event", Started: ev.At},
			}}, nil
		}
	}
	b := newBench(t, &clock{script{id: "clock", kinds: "text", answer: answer("local")}}, &script{id: "other", kinds: "text", answer: answer("instant")})
	b.at = at
	ev := b.text("The exam is on the 3rd of June from nine to eleven.")
	ev.At, ev.Zone = at, "Europe/Berlin"
	b.must(ev)
	hours := map[string][]int{"local exam": {7, 9, 7, 10, 11}, "instant exam": {8, 10, 8, 11, 12}}
	seen := 0
	err := b.store.View(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			seen++
			f := m.Fields.Episodic
			want, ok := hours[m.Text]
			if !ok {
				if !f.Started.Equal(at) {
					t.Errorf("%s: %s, the event's own time", m.Text, f.Started)
				}
				continue
			}
			for i, got := range []time.Time{f.Started, f.Ended, m.TrueFrom, m.TrueTo, m.Expires} {
				if want := time.Date(2027, 6, 3, want[i], 0, 0, 0, time.UTC); !got.Equal(want) {
					t.Errorf("%s: time %d is %s, want %s", m.Text, i, got, want)
				}
			}
		}
		return nil
	})
	if err != nil || seen != 4 {
		t.Errorf("%d memories, %v", seen, err)
	}
}
