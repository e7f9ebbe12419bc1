package foreign

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Limits of the guests of one appointment: how many its text names, and how many are read.
const (
	maxGuests = 8
	mostRead  = 200
)

// wanted are the lines of an entry that are read. Of each but ATTENDEE the first one counts.
var wanted = []string{"UID", "RECURRENCE-ID", "SUMMARY", "DESCRIPTION", "LOCATION", "DTSTART", "DTEND", "DURATION", "DUE", "RRULE", "STATUS", "COMPLETED", "CLASS", "LAST-MODIFIED", "DTSTAMP", "ATTENDEE", "EXDATE"}

// entry is an event or a task of a calendar: the lines between its BEGIN and END, without those of its
// alarms.
type entry struct {
	kind  string // VEVENT or VTODO
	line  int    // its first line
	lines map[string][]*ics.BaseProperty
}

// calendar is what a file has.
type calendar struct {
	entries []*entry
	own     *time.Location
	zones   map[string]*time.Location // by the file's names for them; nil: it is not known
	others  int                       // entries of other kinds
}

// readCalendar reads iCalendar (RFC 5545): an appointment for each event, a fact for each event that is
// repeated, and a plan for each open task. An event that was moved replaces what was imported of it before.
// An event that was cancelled and a task that is done end it.
func readCalendar(r *Result, name string, b []byte, o Options) error {
	c := &calendar{own: o.zone(), zones: map[string]*time.Location{}}
	if err := c.read(r, name, b); err != nil {
		return err
	}
	cancelled, done := 0, 0
	for _, e := range c.entries {
		switch status := e.text("STATUS"); {
		case r.ended():
			return nil
		case status == "CANCELLED":
			cancelled++
			c.end(r, e, &o)
		case e.kind == "VTODO" && (status == "COMPLETED" || e.text("COMPLETED") != ""):
			done++
			c.end(r, e, &o)
		default:
			c.add(r, fmt.Sprintf("%s, line %d", name, e.line), e, &o)
		}
	}
	if cancelled+done+c.others > 0 {
		r.skip(name, "left out: cancelled: %d; tasks that are done: %d; journals, busy times and others: %d", cancelled, done, c.others)
	}
	return nil
}

// read reads the entries and the zones of a file.
func (c *calendar) read(r *Result, name string, b []byte) error {
	if !bytes.HasPrefix(bytes.ToUpper(b[:min(len(b), 64)]), []byte("BEGIN:VCALENDAR")) {
		return fmt.Errorf("%w: %s: want a calendar, which begins with \"BEGIN:VCALENDAR\"", memory.ErrInvalid, name)
	}
	var open []string // the components that have begun, the innermost last
	var e *entry
	var zone, standard string
	stream, n := ics.NewCalendarStream(bytes.NewReader(b)), 0
	for !r.ended() {
		line, err := stream.ReadLine()
		if line == nil || len(*line) == 0 {
			if err != nil {
				break
			}
			continue
		}
		n++
		p, bad := ics.ParseProperty(*line)
		if p == nil || bad != nil {
			r.skip(fmt.Sprintf("%s, line %d", name, n), "it is no line of a calendar: %.40q", string(*line))
		} else {
			inside := ""
			if len(open) > 0 {
				inside = open[len(open)-1]
			}
			switch key := strings.ToUpper(p.IANAToken); {
			case key == "BEGIN":
				kind := strings.ToUpper(p.Value)
				if open = append(open, kind); len(open) > maxDepth {
					return fmt.Errorf("%w: %s, line %d: more than %d components within each other", memory.ErrInvalid, name, n, maxDepth)
				}
				switch kind {
				case "VEVENT", "VTODO":
					e = &entry{kind: kind, line: n, lines: map[string][]*ics.BaseProperty{}}
				case "VTIMEZONE":
					zone, standard = "", ""
				case "VCALENDAR", "STANDARD", "DAYLIGHT", "VALARM":
				default:
					c.others++
				}
			case key == "END":
				if inside != strings.ToUpper(p.Value) {
					return fmt.Errorf("%w: %s, line %d: %.40q ends what did not begin", memory.ErrInvalid, name, n, p.Value)
				}
				open = open[:len(open)-1]
				switch {
				case e != nil && inside == e.kind:
					if c.entries, e = append(c.entries, e), nil; r.bounded && len(c.entries) > MaxAdds {
						return r.end("%s, line %d: more than %d events and tasks", name, n, MaxAdds)
					}
				case inside == "VTIMEZONE" && zone != "":
					c.zones[zone] = c.zone(zone, standard)
				}
			case e != nil && inside == e.kind:
				if n := len(e.lines[key]); slices.Contains(wanted, key) && (n == 0 || (key == "ATTENDEE" || key == "EXDATE") && n < mostRead) {
					e.lines[key] = append(e.lines[key], p)
				}
			case key == "TZID" && inside == "VTIMEZONE":
				zone = p.Value
			case key == "TZOFFSETTO" && inside == "STANDARD":
				standard = p.Value
			}
		}
		if err == io.EOF {
			break
		}
	}
	if len(open) > 0 && r.err == nil {
		return fmt.Errorf("%w: %s: it ends within %s: the file is cut off", memory.ErrInvalid, name, open[len(open)-1])
	}
	return nil
}

func (e *entry) first(key string) *ics.BaseProperty {
	if len(e.lines[key]) == 0 {
		return nil
	}
	return e.lines[key][0]
}

// text returns a value, in one line.
func (e *entry) text(key string) string {
	if p := e.first(key); p != nil {
		return strings.Join(strings.Fields(strings.ToValidUTF8(p.Value, "�")), " ")
	}
	return ""
}

// guests returns the names of those who are invited, without the wearer's.
func (e *entry) guests(o *Options) (names []string) {
	for _, p := range e.lines["ATTENDEE"] {
		for _, n := range p.ICalParameters["CN"] {
			n = strings.Join(strings.Fields(strings.Trim(strings.ToValidUTF8(n, "�"), `"`)), " ")
			if n != "" && !strings.Contains(n, "@") && len(n) <= memory.MaxName && o.speaker(n) != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// add adds what becomes of an entry.
func (c *calendar) add(r *Result, where string, e *entry, o *Options) {
	title := e.text("SUMMARY")
	if title == "" {
		r.skip(where, "it has no title")
		return
	}
	begins := "DTSTART"
	if e.kind == "VTODO" {
		begins = "DUE"
	}
	var times [4]moment
	for i, key := range []string{begins, "DTEND", "LAST-MODIFIED", "DTSTAMP"} {
		t, err := c.moment(e, key)
		if err != nil && i < 2 {
			r.skip(where, "%s: %v", title, err)
			return
		}
		times[i] = t
	}
	start, end := times[0], times[1]
	if start.IsZero() && e.kind == "VEVENT" {
		r.skip(where, "%s: it has no beginning", title)
		return
	}
	if p := e.first("DURATION"); p != nil && end.IsZero() && !start.IsZero() {
		end = moment{start.Add(lasting(p.Value)), start.clock}
	}
	if !start.clock && !end.IsZero() { // its last day is the one before
		end.Time = end.AddDate(0, 0, -1)
	}
	if !end.After(start.Time) {
		end = moment{}
	}
	han := strings.ContainsFunc(title, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	when, over := between(start, end, han), time.Time{}
	rule := e.text("RRULE")
	if rule != "" && !start.IsZero() {
		when, over = c.repeats(rule, start, end, han)
		not, err := c.except(e, han)
		if err != nil {
			r.skip(where, "%s: %v", title, err)
			return
		}
		when += not
	}
	place, guests := e.text("LOCATION"), e.guests(o)
	uid := cmp.Or(e.text("UID"), title+"\x1f"+start.UTC().Format(time.RFC3339))
	if at := e.text("RECURRENCE-ID"); at != "" {
		uid += "\x1f" + at
	}
	text, details := sentence(title, when, place, guests, han), ""
	if p := e.first("DESCRIPTION"); p != nil {
		details = strings.ToValidUTF8(p.Value[:min(len(p.Value), memory.MaxText)], "")
	}
	add := r.add(Calendar, where, strings.Join([]string{uid, text, details}, "\x1f"), text, cmp.Or(times[2], times[3]).Time, map[string]string{"calendar_id": e.text("UID")})
	if add == nil {
		return
	}
	if class := e.text("CLASS"); class == "PRIVATE" || class == "CONFIDENTIAL" {
		private := memory.Private
		add.Sensitivity = &private
	}
	slot := &memory.Slot{Subject: "user", Attribute: "event_" + digest(uid, 6)} // two events with one title don't replace each other
	if rule != "" && over.IsZero() {
		add.Type, add.Tags, add.Slot = memory.Semantic, append(add.Tags, "habit"), slot
		slot.Value, add.Renew = cut(when), true
		return
	}
	kind := "appointment"
	if e.kind == "VTODO" {
		kind = "plan"
	}
	add.Type, add.Tags = memory.Episodic, append(add.Tags, kind)
	f := &memory.EpisodicFields{EventType: kind, Details: details, Place: cut(place), Started: start.Time, Ended: cmp.Or(over, end.Time)}
	add.Fields.Episodic, add.Slot, add.Renew = f, slot, true
	if slot.Value = "open"; start.IsZero() {
		return
	}
	if rule == "" && !start.clock && !end.IsZero() {
		f.Ended = end.AddDate(0, 0, 1).Add(-time.Minute)
	}
	layout := "2006-01-02 15:04"
	if !start.clock {
		layout = time.DateOnly
	}
	slot.Value = start.Format(layout)
}

// DropNotes takes the notes out of an appointment, and reports whether it has any. The console does the same
// (import.tsx).
func DropNotes(add *serve.AddRequest) bool {
	f := add.Fields.Episodic
	if f == nil || f.Details == "" {
		return false
	}
	f.Details = ""
	return true
}

// end ends what an earlier import added of an entry.
func (c *calendar) end(r *Result, e *entry, o *Options) {
	adds, skipped, more, held := len(r.Adds), len(r.Skipped), r.More, r.held
	c.add(r, "", e, o)
	if len(r.Adds) > adds && r.Adds[adds].Slot != nil && (!r.bounded || len(r.Ends) < MaxAdds) {
		add := r.Adds[adds]
		add.Renew, add.Ends = false, true
		r.Ends = append(r.Ends, add)
		held = r.held
	}
	r.Adds, r.Skipped, r.More, r.held = r.Adds[:adds], r.Skipped[:skipped], more, held
}

// sentence puts an entry into words, English ones or Chinese ones.
func sentence(title, when, place string, guests []string, han bool) string {
	more := len(guests) - maxGuests
	guests = guests[:min(len(guests), maxGuests)]
	if han {
		out := title
		if when != "" {
			out += "：" + when
		}
		if place != "" {
			out += "，地点：" + place
		}
		if len(guests) > 0 {
			out += "，参加的人：" + strings.Join(guests, "、")
			if more > 0 {
				out += fmt.Sprintf("，还有%d人", more)
			}
		}
		return out
	}
	out := title
	if when != "" {
		out += ": " + when
	}
	if place != "" {
		out += ", at " + place
	}
	if len(guests) > 0 {
		if more > 0 {
			guests = append(guests, fmt.Sprintf("%d others", more))
		}
		last := len(guests) - 1
		out += ", with "
		if last > 0 {
			out += strings.Join(guests[:last], ", ") + " and "
		}
		out += guests[last]
	}
	return out
}
