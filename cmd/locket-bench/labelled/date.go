package labelled

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// span reads a label's date: its first day and the day after its last.
func span(date string, zone *time.Location) (from, to time.Time, err error) {
	if a, b, ok := strings.Cut(date, "/"); ok {
		if from, _, err = span(a, zone); err != nil {
			return
		}
		_, to, err = span(b, zone)
		return
	}
	for _, f := range []struct {
		layout string
		y, m   int
		d      int
	}{{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if from, err = time.ParseInLocation(f.layout, date, zone); err == nil {
			return from, from.AddDate(f.y, f.m, f.d), nil
		}
	}
	return from, to, fmt.Errorf("date %q: %w", date, err)
}

// dated reports whether one of the memory's times is within the label's date, or its folded text
// names a day (or month, or year) of that date.
func dated(m *memory.Memory, text, date string, zone *time.Location) bool {
	from, to, err := span(date, zone)
	if err != nil {
		return false
	}
	starts, ends := []time.Time{m.TrueFrom}, []time.Time{m.TrueTo}
	if e := m.Fields.Episodic; e != nil {
		starts, ends = append(starts, e.Started), append(ends, e.Ended)
	}
	for i := range starts {
		if t := starts[i]; !t.IsZero() && !t.Before(from) && t.Before(to) {
			return true
		}
		// An end is the first moment after the period.
		if t := ends[i]; !t.IsZero() && t.After(from) && !t.After(to) {
			return true
		}
	}
	whole := !strings.Contains(date, "/")
	if whole && len(date) == len("2006") {
		return contains(text, date, true)
	}
	if whole && len(date) == len("2006-01") && named(text, from.Format("2006-01"), from.Format("January 2006"), from.Format("2006年1月")) {
		return true
	}
	for d := from; d.Before(to); d = d.AddDate(0, 0, 1) {
		if named(text, d.Format(time.DateOnly), d.Format("2 January"), d.Format("January 2"), d.Format("2 Jan"), d.Format("Jan 2"), d.Format("1月2日"), d.Format("1月2号"), ordinal(d)+d.Format(" January"), ordinal(d)+d.Format(" of January"), d.Format("January ")+ordinal(d)) {
			return true
		}
	}
	return false
}

func named(text string, names ...string) bool {
	for _, n := range names {
		if contains(text, fold(n), true) {
			return true
		}
	}
	return false
}

func ordinal(d time.Time) string {
	n := d.Day()
	end := "th"
	if n < 11 || n > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}
