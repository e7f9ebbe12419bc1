package reconcile

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// TestSameStatement reads pairs that say the same and pairs that don't, and compares each in both orders. A
// line is "=" or "!", a tab, one text, a tab, and the other text.
func TestSameStatement(t *testing.T) {
	b, err := os.ReadFile("testdata/same.txt")
	if err != nil {
		t.Fatal(err)
	}
	pairs := 0
	for line := range strings.SplitSeq(string(b), "\n") {
		f := strings.Split(line, "\t")
		if line == "" || line[0] == '#' {
			continue
		}
		if len(f) != 3 || f[0] != "=" && f[0] != "!" {
			t.Fatalf("%q", line)
		}
		pairs++
		for _, p := range [][2]string{{f[1], f[2]}, {f[2], f[1]}, {f[1], f[1]}} {
			c := &memory.Candidate{Type: memory.Episodic, Text: p[0]}
			m := &memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic, Text: p[1]}}
			if got, want := Same(c, m), f[0] == "=" || p[0] == p[1]; got != want {
				t.Errorf("%q, %q: %v (%q, %q)", p[0], p[1], got, Statement(p[0]), Statement(p[1]))
			}
		}
	}
	if pairs < 40 {
		t.Errorf("%d pairs", pairs)
	}
}

func event(at time.Time, said time.Time) memory.Candidate {
	return memory.Candidate{Type: memory.Episodic, Text: "Ada was at the café.", Evidence: []memory.Evidence{{At: said}},
		Fields: memory.Fields{Episodic: &memory.EpisodicFields{EventType: "visit", Started: at}}}
}

// An event on another day, or at another hour, is another event.
func TestSameTime(t *testing.T) {
	nine := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		a, b memory.Candidate
		same bool
	}{
		{"the same clock on another day", event(nine, nine.Add(5*time.Hour)), event(nine.AddDate(0, 0, 1), nine.AddDate(0, 0, 1).Add(5*time.Hour)), false},
		{"told twice of the same time", event(nine, nine.Add(5*time.Hour)), event(nine, nine.Add(9*time.Hour)), true},
		{"another hour", event(nine, nine.Add(5*time.Hour)), event(nine.Add(3*time.Hour), nine.Add(5*time.Hour)), false},
		{"as it is told, twice in a day", event(nine, nine), event(nine.Add(time.Hour), nine.Add(time.Hour)), true},
		{"as it is told, on two days", event(nine, nine), event(nine.AddDate(0, 0, 1), nine.AddDate(0, 0, 1)), false},
		{"with and without a time", event(nine, nine), memory.Candidate{Type: memory.Episodic, Text: "Ada was at the café."}, false},
	} {
		if got := Same(&c.a, &memory.Memory{Candidate: c.b}); got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The same words on several days are several memories of their group, and a repetition of one of
// them adds to that one.
func TestDeriveSameWordsOfTwoDays(t *testing.T) {
	nine := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	var group []memory.Assertion
	for i, day := range []int{0, 1, 0, 2} {
		c := event(nine.AddDate(0, 0, day), nine.AddDate(0, 0, day).Add(time.Duration(5+i)*time.Hour))
		c.Owner.User = "ada"
		group = append(group, memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: uint64(i + 1)}, Clock: memory.Clock{Wall: c.Evidence[0].At.UnixMilli()},
			Rank: memory.RankDevice, Memory: memory.ID{byte(i + 1)}, Act: memory.ActPropose, Candidate: &c})
	}
	active := 0
	for _, m := range Derive(group) {
		if m.State == memory.Active {
			active++
		}
	}
	if active != 3 {
		t.Errorf("%d of 3 days are remembered", active)
	}
}
