package rules

import (
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// TestTimes reads each line of testdata/times.txt on monday.
func TestTimes(t *testing.T) {
	for line := range lines(t, "testdata/times.txt") {
		said, want, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%q", line)
		}
		if got := reading(said); got != want {
			t.Errorf("%s: %s, want %s", said, got, want)
		}
	}
}

// TestManyTimes reads 400 expressions in each language. Half of them are held out: nobody looks at
// which are wrong. An expression that names no date must give none.
func TestManyTimes(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		n, right := [2]int{}, [2]int{}
		for line := range lines(t, "testdata/times/"+lang+".txt") {
			said, want, ok := strings.Cut(line, "\t")
			if !ok {
				t.Fatalf("%q", line)
			}
			half := 0
			if n[0] == 200 {
				half = 1
			}
			n[half]++
			got := reading(said)
			if got == want {
				right[half]++
				continue
			}
			if want == "-" && half == 1 {
				t.Errorf("%s: a date was made of what names none", lang)
			}
			if half == 0 {
				t.Logf("%s: %s, want %s", said, got, want)
			}
		}
		t.Logf("%s: %d of %d, held out %d of %d", lang, right[0], n[0], right[1], n[1])
		for half, k := range right {
			if n[half] < 199 || 100*k < 97*n[half] {
				t.Errorf("%s: %d of %d right, want 97 %%", lang, k, n[half])
			}
		}
	}
}

// reading returns what the times of a text mean on monday.
func reading(said string) string {
	got := "-"
	for _, s := range syntax.Sentences(said) {
		for _, w := range timex.FindWhens(s, monday) {
			if got != "-" {
				got += " and " + plain(&w)
			} else {
				got = plain(&w)
			}
		}
	}
	return got
}

// plain writes a time in the form of testdata/times.txt.
func plain(w *timex.When) string {
	day := func(n int) string {
		y, m, d := timex.Date(n)
		return strconv.Itoa(y) + "-" + timex.Pad2(m) + "-" + timex.Pad2(d)
	}
	s := day(w.Day)
	if w.Clock {
		s += " " + timex.Pad2(w.Minute/60) + ":" + timex.Pad2(w.Minute%60)
	}
	if w.Last > 0 {
		s += ".." + day(w.Last)
	}
	if w.Until > 0 {
		s += ".." + timex.Pad2(w.Until/60) + ":" + timex.Pad2(w.Until%60)
	}
	return s
}

// TestEnded: something that is said to last has its end, in the candidate and in its words.
func TestEnded(t *testing.T) {
	for said, want := range map[string]string{
		"My meeting is from 3 to 5 pm on Friday.":   "2026-09-18 15:00 2026-09-18 17:00",
		"I'm on holiday from 3 to 10 October.":      "2026-10-03 00:00 2026-10-10 23:59",
		"We stayed in Rome from 3 to 7 August.":     "2026-08-03 00:00 2026-08-07 23:59",
		"We met from 10 to 11:30 yesterday.":        "2026-09-13 10:00 2026-09-13 11:30",
		"I'm flying to Porto from 28 May to 3 June": "2027-05-28 00:00 2027-06-03 23:59",
		"明天下午三点到五点开会。":                              "2026-09-15 15:00 2026-09-15 17:00",
		"我十月三号到十号去日本。":                              "2026-10-03 00:00 2026-10-10 23:59",
	} {
		c := hear(t, said).Candidates
		if len(c) != 1 || c[0].Type != "episodic" {
			t.Errorf("%s: %+v", said, c)
			continue
		}
		write := func(ms int64) string {
			m := timex.MomentOf(ms, monday.Offset)
			y, mm, d := timex.Date(m.Day)
			return strconv.Itoa(y) + "-" + timex.Pad2(mm) + "-" + timex.Pad2(d) + " " + timex.Pad2(m.Minute/60) + ":" + timex.Pad2(m.Minute%60)
		}
		if got := write(c[0].Started) + " " + write(c[0].Ended); got != want {
			t.Errorf("%s: %s, want %s", said, got, want)
		}
	}
}
