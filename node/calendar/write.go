package calendar

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// ics is an iCalendar file that is being written: lines of at most 75 bytes that end
// with CR LF (RFC 5545, 3.1).
type ics struct{ bytes.Buffer }

// line writes name:value unchanged, folded.
func (w *ics) line(name, value string) {
	s := name + ":" + value
	for most := 75; len(s) > most; most = 74 { // a continuation line begins with a space
		n := most
		for !utf8.RuneStart(s[n]) {
			n--
		}
		w.WriteString(s[:n] + "\r\n ")
		s = s[n:]
	}
	w.WriteString(s + "\r\n")
}

// text writes a value of type TEXT.
func (w *ics) text(name, value string) {
	value = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(value, "�"))
	w.line(name, strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`).Replace(value))
}

// Time formats.
const (
	formDay   = "20060102"
	formLocal = "20060102T150405"
	formUTC   = "20060102T150405Z"
)

// write returns the file, with the earliest entry first.
func write(c Config, ms []memory.Memory) []byte {
	var list []entry
	for i := range ms {
		if e, ok := entryOf(&ms[i], c.Zone); ok {
			list = append(list, e)
		}
	}
	sorting.Sort(list, func(a, b entry) int {
		if n := a.at.Compare(b.at); n != 0 {
			return n
		}
		return bytes.Compare(a.m.ID[:], b.m.ID[:])
	})
	return file(c, list, true)
}

// file returns a file with entries in the order of their time: a feed, or a single
// entry of CalDAV, which has no METHOD (RFC 4791, 4.1).
func file(c Config, list []entry, feed bool) []byte {
	var w ics
	w.line("BEGIN", "VCALENDAR")
	w.line("VERSION", "2.0")
	w.line("PRODID", "-//Locket//Locket//EN")
	w.line("CALSCALE", "GREGORIAN")
	named := zoneName(c.Zone)
	if feed {
		w.line("METHOD", "PUBLISH")
		w.text("X-WR-CALNAME", "Locket: "+c.Wearer)
		w.line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H")
		if named != "" {
			w.line("X-WR-TIMEZONE", named)
		}
	}
	if named != "" {
		w.zone(c.Zone, named, list)
	}
	for i := range list {
		w.entry(&list[i], named)
	}
	w.line("END", "VCALENDAR")
	return w.Bytes()
}

// zoneName returns the zone's IANA name; empty: it has none that others would know, and
// times are in UTC.
func zoneName(zone *time.Location) string {
	if name := memory.ZoneName(zone); name != "UTC" {
		return name
	}
	return ""
}

// moment writes a time, in UTC if the zone has no name.
func (w *ics) moment(name string, at time.Time, zone string) {
	if zone == "" {
		w.line(name, at.UTC().Format(formUTC))
	} else {
		w.line(name+";TZID="+zone, at.Format(formLocal))
	}
}

// entry writes an entry.
func (w *ics) entry(e *entry, zone string) {
	kind, when := "VEVENT", "DTSTART"
	if e.task {
		kind, when = "VTODO", "DUE"
	}
	w.line("BEGIN", kind)
	w.line("UID", e.m.ID.String()+"@locket")
	w.line("DTSTAMP", e.m.Learnt.UTC().Format(formUTC))
	w.line("LAST-MODIFIED", e.m.Learnt.UTC().Format(formUTC))
	w.text("SUMMARY", e.m.Text)
	w.line("CLASS", "PRIVATE")
	switch {
	case e.at.IsZero():
	case !e.clock:
		w.line(when+";VALUE=DATE", e.at.Format(formDay))
	default:
		w.moment(when, e.at, zone)
	}
	if f := e.m.Fields.Episodic; f != nil {
		if f.Place != "" {
			w.text("LOCATION", f.Place)
		}
		if e.clock && !e.task && f.Ended.After(f.Started) {
			w.moment("DTEND", f.Ended.Add(e.moved).In(e.at.Location()), zone)
		}
		w.text("CATEGORIES", f.EventType)
	}
	if e.yearly {
		w.line("RRULE", "FREQ=YEARLY")
		w.line("TRANSP", "TRANSPARENT")
		w.text("CATEGORIES", "birthday")
	}
	if e.task {
		w.line("STATUS", "NEEDS-ACTION")
	}
	if e.clock {
		w.line("BEGIN", "VALARM")
		w.line("ACTION", "DISPLAY")
		w.text("DESCRIPTION", e.m.Text)
		related := ""
		if e.task {
			related = ";RELATED=END" // a task has a due time, but no start
		}
		w.line("TRIGGER"+related, "-PT30M")
		w.line("END", "VALARM")
	}
	w.line("END", kind)
}

// zone describes the zone around the times of the entries: each change of its offset.
func (w *ics) zone(zone *time.Location, name string, list []entry) {
	var first, last time.Time
	for i := range list {
		if !list[i].clock {
			continue
		}
		if first.IsZero() {
			first = list[i].at
		}
		last = list[i].at
		if f := list[i].m.Fields.Episodic; f != nil && f.Ended.After(last) {
			last = f.Ended
		}
	}
	if first.IsZero() {
		return // dates have no zone
	}
	w.line("BEGIN", "VTIMEZONE")
	w.line("TZID", name)
	for at := first; ; {
		begin, end := at.ZoneBounds()
		_, before := at.Zone()
		if begin.IsZero() {
			begin = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
		} else {
			_, before = begin.Add(-time.Second).In(zone).Zone()
		}
		abbreviation, offset := at.Zone()
		kind := "STANDARD"
		if at.IsDST() {
			kind = "DAYLIGHT"
		}
		w.line("BEGIN", kind)
		// The change is given in the local time before it.
		w.line("DTSTART", begin.UTC().Add(time.Duration(before)*time.Second).Format(formLocal))
		w.line("TZOFFSETFROM", offsetText(before))
		w.line("TZOFFSETTO", offsetText(offset))
		w.text("TZNAME", abbreviation)
		w.line("END", kind)
		if end.IsZero() || end.After(last) {
			break
		}
		at = end.In(zone)
	}
	w.line("END", "VTIMEZONE")
}

// offsetText writes an offset in seconds east of UTC.
func offsetText(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d%02d", sign, seconds/3600, seconds/60%60)
}
