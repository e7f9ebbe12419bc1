package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
)

// moment is a time of an entry. Without a clock it is the beginning of a day in the wearer's zone.
type moment struct {
	time.Time
	clock bool
}

func (m moment) show(han bool) string {
	layout := "Monday 2 January 2006"
	if han {
		layout = "2006年1月2日" + "星期" + string([]rune("日一二三四五六")[m.Weekday()])
	}
	if m.clock {
		layout += ", 15:04"
		if han {
			layout = strings.Replace(layout, ", ", " ", 1)
		}
	}
	return m.Format(layout)
}

// moment reads a date or a time. It is zero if the entry has none.
func (c *calendar) moment(e *entry, key string) (moment, error) {
	p := e.first(key)
	if p == nil {
		return moment{}, nil
	}
	return c.when(p, key, p.Value)
}

// when reads a value of the property p, which is called key.
func (c *calendar) when(p *ics.BaseProperty, key, value string) (moment, error) {
	zone := c.own
	if id := p.ICalParameters["TZID"]; len(id) == 1 && !strings.HasSuffix(value, "Z") {
		known, ok := c.zones[id[0]]
		if !ok {
			known = c.zone(id[0], "")
			c.zones[id[0]] = known
		}
		if zone = known; zone == nil {
			return moment{}, fmt.Errorf("%s: the time zone %.60q is not known", key, id[0])
		}
	}
	for layout, in := range map[string]*time.Location{"20060102T150405Z": time.UTC, "20060102T150405": zone, "20060102": c.own} {
		if t, err := time.ParseInLocation(layout, value, in); err == nil {
			return moment{t.In(c.own), layout != "20060102"}, nil
		}
	}
	return moment{}, fmt.Errorf("%s: %.40q is no time", key, value)
}

// mostExceptions is how many of the days on which a repeated event is not, are named: the last ones.
const mostExceptions = 6

// except names the days on which a repeated event is not (RFC 5545, 3.8.5.1).
func (c *calendar) except(e *entry, han bool) (words string, err error) {
	var out []time.Time
	for _, p := range e.lines["EXDATE"] {
		for value := range strings.SplitSeq(p.Value, ",") {
			m, err := c.when(p, "EXDATE", value)
			if err != nil {
				return "", err
			}
			out = append(out, m.Time)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	var days []string
	for _, t := range out[max(0, len(out)-mostExceptions):] {
		if d := (moment{t, false}).show(han); !slices.Contains(days, d) {
			days = append(days, d)
		}
	}
	switch last := len(days) - 1; {
	case last < 0:
		return "", nil
	case han:
		return "，" + strings.Join(days, "、") + "除外", nil
	case last == 0:
		return ", not on " + days[0], nil
	default:
		return ", not on " + strings.Join(days[:last], ", ") + " and " + days[last], nil
	}
}

// between says from when to when something is.
func between(start, end moment, han bool) string {
	switch to := " to "; {
	case start.IsZero():
		return ""
	case end.IsZero():
		return start.show(han)
	case start.clock && start.Format(time.DateOnly) == end.Format(time.DateOnly):
		if han {
			to = "到"
		}
		return start.show(han) + to + end.Format("15:04")
	default:
		if han {
			to = "到"
		}
		return start.show(han) + to + end.show(han)
	}
}

// zone returns the zone that a file calls name: one of the IANA's, perhaps with something before it, or
// else the wearer's, if it has the same standard time, such as +0100. nil: it is not known.
func (c *calendar) zone(name, standard string) *time.Location {
	name = strings.Trim(name, `"/`)
	for rest := name; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
		if z, err := time.LoadLocation(rest); err == nil && rest != "Local" {
			return z
		}
	}
	year := time.Now().Year()
	_, winter := time.Date(year, time.January, 1, 0, 0, 0, 0, c.own).Zone()
	_, summer := time.Date(year, time.July, 1, 0, 0, 0, 0, c.own).Zone()
	if t, err := time.Parse("-0700", standard); err == nil {
		if _, off := t.Zone(); off == min(winter, summer) {
			return c.own
		}
	}
	return nil
}

// duration matches a duration of RFC 5545 (3.3.6), such as P1D or PT1H30M.
var duration = regexp.MustCompile(`^P(?:(\d{1,3})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:\d{1,4}S)?)?$`)

// lasting reads a duration, without its seconds. It is 0 if the text is none.
func lasting(s string) (d time.Duration) {
	units := []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute}
	for i, digits := range duration.FindStringSubmatch(s) {
		if n, err := strconv.Atoi(digits); i > 0 && err == nil {
			d += time.Duration(n) * units[i-1]
		}
	}
	return d
}
