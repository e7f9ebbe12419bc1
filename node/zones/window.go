package zones

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// window is a span of the clock on some days. If its end is before its beginning,
// it extends into the next day, and belongs to the day on which it began.
type window struct {
	days     [7]bool // from Sunday on
	from, to int     // minutes of the day; to is not included
}

var dayNames = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseWindow parses "daily 22:00-07:00", "mon-fri 9:00-17:00", "sat,sun" (all
// day), "22:00-07:00" (daily), "weekdays", "weekends".
func parseWindow(s string) (w window, err error) {
	bad := func() (window, error) {
		return window{}, fmt.Errorf("%w: window: %q: want such as \"daily 22:00-07:00\", \"mon-fri 9:00-17:00\" or \"sat,sun\"", memory.ErrInvalid, s)
	}
	parts := strings.Fields(strings.ToLower(s))
	if len(parts) == 0 || len(parts) > 2 {
		return bad()
	}
	days, clock := parts[0], ""
	if strings.Contains(days, ":") {
		if len(parts) > 1 {
			return bad()
		}
		days, clock = "daily", days
	} else if len(parts) == 2 {
		clock = parts[1]
	}
	for _, d := range strings.Split(days, ",") {
		from, to, ok := dayRange(d)
		if !ok {
			return bad()
		}
		for i := from; ; i = (i + 1) % 7 {
			w.days[i] = true
			if i == to {
				break
			}
		}
	}
	w.to = 24 * 60
	if clock != "" {
		a, b, ok := strings.Cut(clock, "-")
		from, ok1 := minutes(a)
		to, ok2 := minutes(b)
		if !ok || !ok1 || !ok2 || from == to || from == 24*60 {
			return bad()
		}
		w.from, w.to = from, to
	}
	return w, nil
}

func dayRange(s string) (from, to int, ok bool) {
	switch s {
	case "daily", "always":
		return 0, 6, true
	case "weekdays":
		return 1, 5, true
	case "weekends":
		return 6, 0, true
	}
	a, b, span := strings.Cut(s, "-")
	from, ok = dayNumber(a)
	if !span {
		return from, from, ok
	}
	to, ok2 := dayNumber(b)
	return from, to, ok && ok2
}

func dayNumber(s string) (int, bool) {
	for i, n := range dayNames {
		if full := strings.ToLower(time.Weekday(i).String()); s == n || s == full {
			return i, true
		}
	}
	return 0, false
}

func minutes(s string) (int, bool) {
	h, m, ok := strings.Cut(s, ":")
	hours, err1 := strconv.ParseUint(h, 10, 8)
	mins, err2 := strconv.ParseUint(m, 10, 8)
	total := int(hours*60 + mins)
	return total, ok && err1 == nil && err2 == nil && len(m) == 2 && mins < 60 && total <= 24*60
}

// holds reports whether a time is in the window, by the clock of the time's zone.
func (w *window) holds(t time.Time) bool {
	m, day := t.Hour()*60+t.Minute(), int(t.Weekday())
	if w.from < w.to {
		return w.days[day] && m >= w.from && m < w.to
	}
	return w.days[day] && m >= w.from || w.days[(day+6)%7] && m < w.to
}

// String returns the form that parseWindow parses.
func (w *window) String() string {
	var days []string
	all := true
	for i, on := range w.days {
		if all = all && on; on {
			days = append(days, dayNames[i])
		}
	}
	text := strings.Join(days, ",")
	if all {
		text = "daily"
	}
	if w.from == 0 && w.to == 24*60 {
		return text
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", text, w.from/60, w.from%60, w.to/60, w.to%60)
}
