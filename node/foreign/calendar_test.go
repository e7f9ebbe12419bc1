package foreign

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// ical makes a calendar of the given lines, which end as RFC 5545 wants.
func ical(lines ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\r\n") + "\r\nEND:VCALENDAR\r\n"
}

func event(lines ...string) string {
	return "BEGIN:VEVENT\n" + strings.Join(lines, "\n") + "\nEND:VEVENT"
}

var berlin, _ = time.LoadLocation("Europe/Berlin")

func readICal(t *testing.T, text string) Result {
	t.Helper()
	r, err := Read(t.Context(), Calendar, "my.ics", strings.NewReader(text), Options{Zone: berlin, Me: []string{"Mei"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What each event says in words, and of which type it is.
func TestCalendarSays(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		text  string
		kind  memory.Type
	}{
		{[]string{"UID:a", "SUMMARY:Dentist", "DTSTART:20260917T141500Z", "DTEND:20260917T150000Z", `LOCATION:Am Ring 3\, Lindau`,
			`ATTENDEE;CN="Berg, Anna":mailto:a@example.org`, "ATTENDEE;CN=Mei:mailto:m@example.org", "ATTENDEE;CN=ben@example.org:mailto:ben@example.org", "ATTENDEE;CN=Ben:mailto:b@example.org"},
			"Dentist: Thursday 17 September 2026, 16:15 to 17:00, at Am Ring 3, Lindau, with Berg, Anna and Ben", memory.Episodic},
		{[]string{"UID:b", "SUMMARY:Oslo", "DTSTART;VALUE=DATE:20260917", "DTEND;VALUE=DATE:20260920"}, "Oslo: Thursday 17 September 2026 to Saturday 19 September 2026", memory.Episodic},
		{[]string{"UID:c", "SUMMARY:Day off", "DTSTART;VALUE=DATE:20260917", "DTEND;VALUE=DATE:20260918"}, "Day off: Thursday 17 September 2026", memory.Episodic},
		{[]string{"UID:d", "SUMMARY:Call", "DTSTART;TZID=America/New_York:20260917T090000"}, "Call: Thursday 17 September 2026, 15:00", memory.Episodic},
		{[]string{"UID:e", "SUMMARY:Party", "DTSTART:20260917T220000", "DTEND:20260918T020000"}, "Party: Thursday 17 September 2026, 22:00 to Friday 18 September 2026, 02:00", memory.Episodic},
		{[]string{"UID:e2", "SUMMARY:Walk", "DTSTART:20260917T100000", "DURATION:PT1H30M"}, "Walk: Thursday 17 September 2026, 10:00 to 11:30", memory.Episodic},
		{[]string{"UID:e3", "SUMMARY:Fair", "DTSTART;VALUE=DATE:20260917", "DURATION:P2D"}, "Fair: Thursday 17 September 2026 to Friday 18 September 2026", memory.Episodic},
		{[]string{"UID:f", "SUMMARY:牙医", "DTSTART:20260917T161500", "DTEND:20260917T170000", "LOCATION:长宁路"}, "牙医：2026年9月17日星期四 16:15到17:00，地点：长宁路", memory.Episodic},
		{[]string{"UID:g", "SUMMARY:Yoga", "DTSTART:20260106T180000", "DTEND:20260106T193000", "RRULE:FREQ=WEEKLY;BYDAY=TU,TH"}, "Yoga: every week on Tuesday and Thursday, 18:00 to 19:30, since Tuesday 6 January 2026", memory.Semantic},
		{[]string{"UID:h", "SUMMARY:瑜伽", "DTSTART:20260106T180000", "RRULE:FREQ=WEEKLY"}, "瑜伽：每周二 18:00，从2026年1月6日星期二开始", memory.Semantic},
		{[]string{"UID:i", "SUMMARY:Anna's birthday", "DTSTART;VALUE=DATE:16040503", "RRULE:FREQ=YEARLY"}, "Anna's birthday: every year on 3 May", memory.Semantic},
		{[]string{"UID:j", "SUMMARY:Bins", "DTSTART;VALUE=DATE:20260107", "RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=MO"}, "Bins: every 2 weeks on Wednesday, since Wednesday 7 January 2026", memory.Semantic},
		{[]string{"UID:k", "SUMMARY:Book club", "DTSTART:20260113T190000", "RRULE:FREQ=MONTHLY;BYDAY=2TU"}, "Book club: every month on the second Tuesday, 19:00, since Tuesday 13 January 2026", memory.Semantic},
		{[]string{"UID:l", "SUMMARY:Rent", "DTSTART;VALUE=DATE:20260131", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1"}, "Rent: repeatedly, since Saturday 31 January 2026", memory.Semantic},
		{[]string{"UID:m", "SUMMARY:Course", "DTSTART:20260106T180000", "RRULE:FREQ=WEEKLY;UNTIL=20260317T235959Z"}, "Course: every week on Tuesday, 18:00, since Tuesday 6 January 2026, until Wednesday 18 March 2026", memory.Episodic},
		{[]string{"UID:n", "SUMMARY:课", "DTSTART:20260106T180000", "RRULE:FREQ=MONTHLY;INTERVAL=2;COUNT=4"}, "课：每2个月的6号 18:00，从2026年1月6日星期二开始，共4次", memory.Semantic},
		{[]string{"UID:o", "SUMMARY:Choir", "DTSTART;TZID=Europe/Berlin:20260106T180000", "RRULE:FREQ=WEEKLY", "EXDATE;TZID=Europe/Berlin:20260407T180000", "EXDATE;TZID=Europe/Berlin:20260331T180000,20260407T180000"},
			"Choir: every week on Tuesday, 18:00, since Tuesday 6 January 2026, not on Tuesday 31 March 2026 and Tuesday 7 April 2026", memory.Semantic},
		{[]string{"UID:p", "SUMMARY:合唱团", "DTSTART;VALUE=DATE:20260106", "RRULE:FREQ=WEEKLY", "EXDATE;VALUE=DATE:20260407"}, "合唱团：每周二，从2026年1月6日星期二开始，2026年4月7日星期二除外", memory.Semantic},
	} {
		r := readICal(t, ical(event(tt.lines...)))
		if len(r.Adds) != 1 || r.Adds[0].Text != tt.text || r.Adds[0].Type != tt.kind || *r.Adds[0].Infer {
			t.Errorf("%q: %+v, skipped %v; want %q", tt.lines, r.Adds, r.Skipped, tt.text)
		}
	}
}

// A repeated event that was changed takes the place of what was imported of it before.
func TestCalendarRepeatsAnew(t *testing.T) {
	yoga := func(at string) *memory.Slot {
		r := readICal(t, ical(event("UID:g", "SUMMARY:Yoga", "DTSTART:20260106T"+at, "RRULE:FREQ=WEEKLY")))
		if len(r.Adds) != 1 || r.Adds[0].Slot == nil {
			t.Fatalf("%+v", r.Adds)
		}
		return r.Adds[0].Slot
	}
	if a, b := yoga("180000"), yoga("190000"); a.Subject != b.Subject || a.Attribute != b.Attribute || a.Value == b.Value || a.Many || b.Many {
		t.Errorf("%+v, %+v", a, b)
	}
	r := readICal(t, ical(event("UID:g", "SUMMARY:Yoga", "DTSTART:20260106T180000", "RRULE:FREQ=WEEKLY", "EXDATE:soon")))
	if len(r.Adds) != 0 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, `EXDATE: "soon" is no time`) {
		t.Errorf("%+v", r)
	}
}

// What a program asks an appointment for is in its fields, and what is not to be imported is left out, and named.
func TestCalendarFields(t *testing.T) {
	r := readICal(t, ical(
		event("UID:a", "SUMMARY:Dentist", "DTSTART:20260917T141500Z", "DTEND:20260917T150000Z", "LOCATION:Lindau", `DESCRIPTION:Bring the card\nand `, " the letter", "LAST-MODIFIED:20260901T080000Z", "CLASS:PRIVATE", "BEGIN:VALARM", "DESCRIPTION:Reminder", "TRIGGER:-PT15M", "END:VALARM"),
		event("UID:b", "SUMMARY:Fair", "DTSTART;VALUE=DATE:20260917", "DTEND;VALUE=DATE:20260919"),
		event("UID:c", "SUMMARY:Gone", "DTSTART;VALUE=DATE:20260917", "STATUS:CANCELLED"),
		event("UID:d", "DTSTART;VALUE=DATE:20260917"),
		event("UID:e", "SUMMARY:Lost", "DTSTART:2026-09-17"),
		event("UID:f", "SUMMARY:Far", "DTSTART;TZID=Moon/Tycho:20260917T100000"),
		"BEGIN:VTODO\nUID:g\nSUMMARY:Renew the passport\nDUE;VALUE=DATE:20261001\nEND:VTODO",
		"BEGIN:VTODO\nUID:h\nSUMMARY:Buy milk\nSTATUS:COMPLETED\nEND:VTODO",
		"BEGIN:VTODO\nUID:i\nSUMMARY:Learn to sail\nEND:VTODO",
	))
	if len(r.Adds) != 4 || len(r.Skipped) != 4 {
		t.Fatalf("%+v, %v", r.Adds, r.Skipped)
	}
	a := &r.Adds[0]
	f := a.Fields.Episodic
	if f.EventType != "appointment" || f.Place != "Lindau" || f.Details != "Bring the card\nand the letter" || !f.Started.Equal(time.Date(2026, 9, 17, 14, 15, 0, 0, time.UTC)) || f.Ended.Sub(f.Started) != 45*time.Minute ||
		!a.At.Equal(time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)) || *a.Sensitivity != memory.Private || a.Slot.Value != "2026-09-17 16:15" || a.Metadata["calendar_id"] != "a" {
		t.Errorf("%+v %+v %+v", a, f, a.Slot)
	}
	if b := &r.Adds[1]; b.Slot.Value != "2026-09-17" || !b.Fields.Episodic.Ended.Equal(time.Date(2026, 9, 18, 23, 59, 0, 0, berlin)) || b.Slot.Attribute == a.Slot.Attribute {
		t.Errorf("%+v %+v", b.Slot, b.Fields.Episodic)
	}
	if g := &r.Adds[2]; g.Text != "Renew the passport: Thursday 1 October 2026" || g.Fields.Episodic.EventType != "plan" {
		t.Errorf("%+v", g)
	}
	if i := &r.Adds[3]; i.Text != "Learn to sail" || i.Slot.Value != "open" || len(r.Ends) != 2 || !r.Ends[1].Ends || !i.Fields.Episodic.Started.IsZero() {
		t.Errorf("%+v", i)
	}
	for i, want := range []string{"it has no title", `DTSTART: "2026-09-17" is no time`, `the time zone "Moon/Tycho" is not known`, "cancelled: 1; tasks that are done: 1"} {
		if got := r.Skipped[i].Reason; !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Outlook names zones in its own way, and others put something before the name.
func TestCalendarZones(t *testing.T) {
	zone := func(name, off string) string {
		return "BEGIN:VTIMEZONE\nTZID:" + name + "\nBEGIN:STANDARD\nDTSTART:16011028T030000\nTZOFFSETTO:" + off + "\nEND:STANDARD\nEND:VTIMEZONE"
	}
	for name, off := range map[string]string{"W. Europe Standard Time": "+0100", "/freeassociation.sourceforge.net/Europe/Berlin": "+0100"} {
		r := readICal(t, ical(zone(name, off), event("UID:a", "SUMMARY:Call", `DTSTART;TZID="`+name+`":20260917T090000`)))
		if len(r.Adds) != 1 || !r.Adds[0].Fields.Episodic.Started.Equal(time.Date(2026, 9, 17, 7, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %+v %v", name, r.Adds, r.Skipped)
		}
	}
	if r := readICal(t, ical(zone("Tokyo Standard Time", "+0900"), event("UID:a", "SUMMARY:Call", "DTSTART;TZID=Tokyo Standard Time:20260917T090000"))); len(r.Adds) != 0 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
}

// A file that is no calendar, or is cut off, is refused as a whole.
func TestCalendarRefused(t *testing.T) {
	whole := ical(event("UID:a", "SUMMARY:Dentist", "DTSTART:20260917T141500Z"))
	for text, want := range map[string]string{
		"SUMMARY:Dentist":                             "BEGIN:VCALENDAR",
		whole[:len(whole)-27]:                         "cut off",
		ical("END:VEVENT"):                            "did not begin",
		ical(strings.Repeat("BEGIN:X\n", 20) + "X:1"): "within each other",
	} {
		if _, err := Read(t.Context(), Calendar, "my.ics", strings.NewReader(text), Options{}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if got := Guess("x", []byte(whole)); got != Calendar {
		t.Error(got)
	}
	if r := readICal(t, strings.Replace(whole, "SUMMARY", "no line at all\r\nSUMMARY", 1)); len(r.Adds) != 1 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
}

// An event that is the same in a later export has the same key; one that was moved has another key, and the same
// slot, so that it replaces the first.
func TestCalendarKeys(t *testing.T) {
	dentist := func(at string) string { return event("UID:a", "SUMMARY:Dentist", "DTSTAMP:"+at, "DTSTART:"+at) }
	first := readICal(t, ical(dentist("20260106T180000Z"), event("UID:b", "SUMMARY:Dentist", "DTSTART:20260106T180000Z")))
	again := readICal(t, ical(dentist("20260106T180000Z")))
	moved := readICal(t, ical(dentist("20260107T180000Z")))
	if a, b := &first.Adds[0], &moved.Adds[0]; a.Key != again.Adds[0].Key || a.Key == b.Key || a.Slot.Attribute != b.Slot.Attribute || a.Slot.Value == b.Slot.Value || a.Slot.Attribute == first.Adds[1].Slot.Attribute {
		t.Errorf("%+v %+v %+v", first.Adds, again.Adds, moved.Adds)
	}
}

func FuzzCalendar(f *testing.F) {
	f.Add(ical(event("UID:a", "SUMMARY:Yoga", "DTSTART;TZID=Europe/Berlin:20260106T180000", "DTEND:20260106T190000", "RRULE:FREQ=MONTHLY;BYDAY=-1TU;UNTIL=20270101", "ATTENDEE;CN=\"A\":mailto:a@b")))
	f.Add(ical("BEGIN:VTIMEZONE\nTZID:X\nBEGIN:STANDARD\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE", event("SUMMARY:牙医", "DTSTART;VALUE=DATE:20260106", "RRULE:FREQ=YEARLY;BYMONTH=2;COUNT=3")))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(t.Context(), Calendar, "my.ics", strings.NewReader(text), Options{Zone: berlin})
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatal(err)
		}
		for _, a := range r.Adds {
			if f := a.Fields.Episodic; f != nil && !f.Ended.IsZero() && f.Ended.Before(f.Started) {
				t.Fatalf("%q ends before it begins", a.Text)
			}
		}
	})
}
