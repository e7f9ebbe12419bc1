package zones

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var noon = time.Date(2025, 4, 2, 12, 0, 0, 0, time.UTC) // a Wednesday

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		text, form string
		in, out    []string // day of that week and clock time
	}{
		{"daily 22:00-7:00", "daily 22:00-07:00", []string{"Wed 22:00", "Thu 06:59", "Sun 23:59", "Mon 00:00"}, []string{"Wed 21:59", "Wed 07:00", "Wed 12:00"}},
		{"22:00-07:00", "daily 22:00-07:00", []string{"Wed 23:00"}, []string{"Wed 08:00"}},
		{"mon-fri 09:00-17:00", "mon,tue,wed,thu,fri 09:00-17:00", []string{"Mon 09:00", "Fri 16:59"}, []string{"Sat 12:00", "Sun 12:00", "Mon 08:59", "Fri 17:00"}},
		{"fri 22:00-02:00", "fri 22:00-02:00", []string{"Fri 23:00", "Sat 01:59"}, []string{"Fri 01:00", "Sat 22:00", "Sat 02:00", "Sun 01:00"}},
		{"weekends", "sun,sat", []string{"Sat 00:00", "Sun 23:59"}, []string{"Fri 23:59", "Mon 00:00"}},
		{"sat-mon", "sun,mon,sat", []string{"Sat 12:00", "Sun 12:00", "Mon 12:00"}, []string{"Tue 12:00"}},
		{"always", "daily", []string{"Wed 00:00", "Sun 23:59"}, nil},
		{"Tuesday 0:00-24:00", "tue", []string{"Tue 00:00", "Tue 23:59"}, []string{"Wed 00:00", "Mon 23:59"}},
	} {
		w, err := parseWindow(c.text)
		if err != nil || w.String() != c.form {
			t.Errorf("%s: %s, %v", c.text, w.String(), err)
			continue
		}
		if again, err := parseWindow(w.String()); err != nil || again != w {
			t.Errorf("%s: %+v read again is %+v, %v", c.text, w, again, err)
		}
		at := func(s string) time.Time {
			for d := range 7 {
				day := noon.AddDate(0, 0, d)
				if p, err := time.Parse("2006-01-02 Mon 15:04", day.Format("2006-01-02 ")+s); err == nil && p.Format("Mon") == s[:3] && p.Weekday() == day.Weekday() {
					return p
				}
			}
			t.Fatal(s)
			return time.Time{}
		}
		for _, s := range c.in {
			if !w.holds(at(s)) {
				t.Errorf("%s: %s is not within", c.text, s)
			}
		}
		for _, s := range c.out {
			if w.holds(at(s)) {
				t.Errorf("%s: %s is within", c.text, s)
			}
		}
	}
	for _, bad := range []string{"", "whenever", "daily 22:00", "daily 22-7", "daily 25:00-26:00", "daily 10:00-10:00", "daily 9:00-17:60", "mon-fri 9:00-17:00 x", "9:00-10:00 daily", "mon,,tue", "24:00-7:00"} {
		if w, err := parseWindow(bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %+v, %v", bad, w, err)
		}
	}
}

func checked(t *testing.T, z Zone) Zone {
	t.Helper()
	if err := z.Check(); err != nil {
		t.Fatal(err)
	}
	return z
}

// story feeds a gate with what one device sends.
type story struct {
	t   *testing.T
	g   *Gate
	seq uint64
}

func (s *story) send(kind memory.Kind, at, received time.Time, clock memory.ClockQuality, boot uint64, p *memory.Place) string {
	s.seq++
	reason, _ := s.g.CheckEvent(&memory.Event{ID: memory.EventID{Device: "pin", Boot: boot, Seq: s.seq}, Kind: kind, At: at, Received: received, Clock: clock, Place: p})
	return reason
}

func (s *story) live(at time.Time) string {
	return s.send(memory.KindText, at, at, memory.ClockWall, 1, nil)
}

func (s *story) fix(at time.Time, lat, lon, accuracy float64, name string) string {
	return s.send(memory.KindLocation, at, at, memory.ClockWall, 1, &memory.Place{Lat: lat, Lon: lon, Accuracy: accuracy, Name: name})
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// An event is judged by when it happened, not by when it arrived.
func TestEventStoredInAZone(t *testing.T) {
	s := story{t: t, g: New(Config{}, []Zone{checked(t, Zone{Name: "night", Window: "22:00-07:00"})})}
	night := noon.Add(-10 * time.Hour)
	want(t, "live by day", s.live(noon), "")
	want(t, "stored at night, sent by day", s.send(memory.KindAudio, night, noon, memory.ClockWall, 1, nil), ByTime)
	want(t, "stored by day, sent at night", s.send(memory.KindAudio, noon.Add(time.Hour), noon.Add(11*time.Hour), memory.ClockWall, 1, nil), "")
	lisbon := &memory.Event{ID: memory.EventID{Device: "pin", Boot: 1, Seq: 99}, Kind: memory.KindText, At: noon.Add(9*time.Hour + 30*time.Minute), Received: noon, Clock: memory.ClockWall, Zone: "Europe/Lisbon"}
	reason, _ := s.g.CheckEvent(lisbon)
	want(t, "half past ten at night where the wearer is", reason, ByTime)
}

// An event without a time of its own may be from any time at which its device
// was away.
func TestEventsWithoutATrustedClock(t *testing.T) {
	zone := []Zone{checked(t, Zone{Name: "night", Window: "22:00-07:00"})}
	morning := noon.Add(-3 * time.Hour) // 9:00
	s := story{t: t, g: New(Config{}, zone)}
	s.send(memory.KindHello, noon.Add(-16*time.Hour), noon.Add(-16*time.Hour), memory.ClockUptime, 1, nil) // 20:00
	s.send(memory.KindHello, morning, morning, memory.ClockUptime, 2, nil)
	want(t, "of an earlier boot, after a night away", s.send(memory.KindAudio, morning, morning, memory.ClockUptime, 1, nil), ByTime)
	want(t, "no clock, after a night away", s.send(memory.KindAudio, morning.Add(time.Second), morning.Add(time.Second), memory.ClockNone, 2, nil), ByTime)
	want(t, "placed by this boot's uptime", s.send(memory.KindAudio, morning, morning, memory.ClockUptime, 2, nil), "")
	want(t, "this boot, at night", s.send(memory.KindAudio, morning.Add(-3*time.Hour), morning, memory.ClockUptime, 2, nil), ByTime)
	for at := morning; at.Before(morning.Add(catchUp)); at = at.Add(30 * time.Second) {
		s.send(memory.KindStatus, at, at, memory.ClockWall, 2, nil)
	}
	later := morning.Add(catchUp + time.Second)
	want(t, "no clock, long back", s.send(memory.KindAudio, later, later, memory.ClockNone, 2, nil), "")

	first := story{t: t, g: New(Config{}, zone)}
	want(t, "no clock, heard for the first time", first.send(memory.KindAudio, morning, morning, memory.ClockNone, 1, nil), ByTime)
	want(t, "a clock, heard for the first time", first.live(morning), "")
}

func TestPlace(t *testing.T) {
	const lat, lon = 38.7223, -9.1393
	metre := 1 / 111_195.0 // in degrees of latitude
	s := story{t: t, g: New(Config{}, []Zone{checked(t, Zone{Name: "home", Lat: lat, Lon: lon, Radius: 100}), checked(t, Zone{Name: "surgery", Place: "The Clinic"})})}
	want(t, "before any fix", s.live(noon), "")
	want(t, "a fix outside", s.fix(noon, lat+200*metre, lon, 0, ""), "")
	want(t, "a minute later", s.live(noon.Add(time.Minute)), "")
	want(t, "a fix inside", s.fix(noon.Add(2*time.Minute), lat+99*metre, lon, 0, ""), ByPlace)
	want(t, "inside", s.live(noon.Add(3*time.Minute)), ByPlace)
	want(t, "hours later, without a fix", s.live(noon.Add(11*time.Hour)), ByPlace)
	want(t, "the next day, without a fix", s.live(noon.Add(13*time.Hour)), "")
	want(t, "from before it was entered, sent later", s.send(memory.KindPhoto, noon.Add(time.Minute), noon.Add(time.Hour), memory.ClockWall, 1, nil), "")
	back := noon.Add(24 * time.Hour)
	want(t, "a fix that may be inside", s.fix(back, lat+150*metre, lon, 60, ""), ByPlace)
	want(t, "a fix that says nothing", s.fix(back.Add(time.Minute), lat+5000*metre, lon, 5000, ""), ByPlace)
	want(t, "outside again", s.fix(back.Add(2*time.Minute), lat+500*metre, lon, 10, ""), "")
	want(t, "stored inside, sent outside", s.send(memory.KindAudio, back.Add(time.Minute), back.Add(3*time.Minute), memory.ClockWall, 1, nil), ByPlace)
	want(t, "a named place", s.fix(back.Add(10*time.Minute), 1, 1, 0, "the clinic"), ByPlace)
	want(t, "a fix without a name", s.fix(back.Add(11*time.Minute), 1, 1, 0, ""), ByPlace)
	want(t, "another place", s.fix(back.Add(12*time.Minute), 2, 2, 0, "market"), "")
	if n := s.g.Active(back.Add(10 * time.Minute)); len(n) != 1 || n[0] != "surgery" {
		t.Errorf("active: %v", n)
	}
}

// Where the place isn't known, "drop" drops; a fix outside the zone is believed
// for a while.
func TestUnknownPlace(t *testing.T) {
	s := story{t: t, g: New(Config{AssumeEntered: true, Age: 10 * time.Minute}, []Zone{checked(t, Zone{Name: "home", Lat: 1, Lon: 1, Radius: 100})})}
	want(t, "before any fix", s.live(noon), ByPlace)
	want(t, "a fix outside", s.fix(noon, 2, 2, 0, ""), "")
	want(t, "soon after", s.live(noon.Add(10*time.Minute)), "")
	want(t, "long after", s.live(noon.Add(11*time.Minute)), ByPlace)
}

// A zone with a time and a place is neither of them alone.
func TestZoneWithTimeAndPlace(t *testing.T) {
	s := story{t: t, g: New(Config{}, []Zone{checked(t, Zone{Name: "surgery", Place: "clinic", Window: "mon-fri 8:00-18:00"})})}
	want(t, "elsewhere", s.live(noon), "")
	want(t, "there", s.fix(noon, 1, 1, 0, "clinic"), ByPlace)
	want(t, "there, in the evening", s.live(noon.Add(6*time.Hour)), "")
}

// Whatever the order of arrival, an event is judged by the fixes before it in
// its own time, once they are known.
func TestEventsOutOfOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	home := checked(t, Zone{Name: "home", Lat: 10, Lon: 10, Radius: 100})
	for range 200 {
		g := New(Config{}, []Zone{home})
		inside := make([]bool, 20)
		for i := range inside {
			inside[i] = r.IntN(2) == 0
		}
		for n, i := range r.Perm(len(inside)) {
			p := memory.Place{Lat: 20, Lon: 20}
			if inside[i] {
				p = memory.Place{Lat: 10, Lon: 10}
			}
			g.CheckEvent(&memory.Event{ID: memory.EventID{Device: "a", Boot: 1, Seq: uint64(n)}, Kind: memory.KindLocation, Clock: memory.ClockWall,
				At: noon.Add(time.Duration(i) * time.Minute), Received: noon.Add(time.Hour), Place: &p})
		}
		for i := range inside {
			reason, _ := g.CheckEvent(&memory.Event{ID: memory.EventID{Device: "b", Boot: 1, Seq: uint64(i)}, Kind: memory.KindText, Clock: memory.ClockWall,
				At: noon.Add(time.Duration(i)*time.Minute + 30*time.Second), Received: noon.Add(time.Hour)})
			if (reason != "") != inside[i] {
				t.Fatalf("minute %d of %v: %q", i, inside, reason)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	g := New(Config{}, []Zone{checked(t, Zone{Name: "home", Lat: 10, Lon: 10, Radius: 100})})
	for i := range maxFixes + 100 {
		g.CheckEvent(&memory.Event{ID: memory.EventID{Device: fmt.Sprint(i), Boot: 1}, Kind: memory.KindLocation, Clock: memory.ClockWall, At: noon.Add(time.Duration(i) * time.Second),
			Received: noon, Place: &memory.Place{Lat: 1, Lon: 1}})
	}
	if len(g.fixes) != maxFixes || len(g.devices) != maxDevices {
		t.Errorf("%d fixes, %d devices", len(g.fixes), len(g.devices))
	}
}
