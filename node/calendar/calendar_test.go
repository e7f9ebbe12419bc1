package calendar

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func at(t *testing.T, zone *time.Location, s string) time.Time {
	t.Helper()
	v, err := time.ParseInLocation("2006-01-02 15:04", s, zone)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// episode returns a memory as the rules make it.
func episode(id byte, kind, text, value string, started time.Time) memory.Memory {
	m := memory.Memory{ID: memory.ID{id}, Learnt: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
	m.Type, m.Text, m.Slot = memory.Episodic, text, &memory.Slot{Subject: "user", Attribute: kind, Value: value}
	m.Fields.Episodic = &memory.EpisodicFields{EventType: kind, Started: started}
	return m
}

func TestWrite(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	dentist := episode(1, "appointment", "Dentist; bring the X-ray,\nand \\ a 张伟 "+strings.Repeat("长", 40), "2026-10-20 10:00", at(t, zone, "2026-10-20 11:00")) // said in winter
	dentist.Fields.Episodic.Place = "Rua A, 5"
	dentist.Fields.Episodic.Ended = at(t, zone, "2026-10-20 12:00")
	birthday := memory.Memory{ID: memory.ID{4}, Learnt: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
	birthday.Type, birthday.Text, birthday.Slot = memory.Semantic, "Zoe's birthday is February 29", &memory.Slot{Subject: "zoe", Attribute: "birthday", Value: "February 29"}
	got := string(write(Config{Wearer: "Ana", Zone: zone}, []memory.Memory{
		dentist,
		episode(2, "plan", "Hiking on Sunday", "2026-11-01", at(t, zone, "2026-11-01 00:00")),
		episode(3, "promise", "Ana will call her mother", "open", time.Time{}),
		episode(5, "promise", "Ana will send the form", "2026-12-01 09:00", at(t, zone, "2026-12-01 09:00")),
		episode(6, "plan", "Some day", "open", time.Time{}),
		birthday,
	}))
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
	plain := strings.ReplaceAll(got, "\r\n ", "")
	for _, want := range []string{
		"BEGIN:VTIMEZONE\r\nTZID:Europe/Lisbon\r\nBEGIN:DAYLIGHT\r\nDTSTART:20260329T010000\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0100\r\nTZNAME:WEST\r\nEND:DAYLIGHT\r\nBEGIN:STANDARD\r\nDTSTART:20261025T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0000\r\nTZNAME:WET\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n",
		`SUMMARY:Dentist\; bring the X-ray\,\nand \\ a 张伟 ` + strings.Repeat("长", 40) + "\r\n",
		"DTSTART;TZID=Europe/Lisbon:20261020T100000\r\nLOCATION:Rua A\\, 5\r\nDTEND;TZID=Europe/Lisbon:20261020T110000\r\n",
		"DTSTART;VALUE=DATE:20261101\r\n",
		"BEGIN:VTODO\r\nUID:" + memory.ID{3}.String() + "@locket\r\nDTSTAMP:20260901T080000Z\r\nLAST-MODIFIED:20260901T080000Z\r\nSUMMARY:Ana will call her mother\r\nCLASS:PRIVATE\r\nCATEGORIES:promise\r\nSTATUS:NEEDS-ACTION\r\nEND:VTODO\r\n",
		"DUE;TZID=Europe/Lisbon:20261201T090000\r\n", "TRIGGER;RELATED=END:-PT30M\r\n",
		"DTSTART;VALUE=DATE:20240229\r\nRRULE:FREQ=YEARLY\r\n",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("without\n%s\nin\n%s", want, plain)
		}
	}
	if strings.Contains(plain, "Some day") {
		t.Error("a plan without a day")
	}
	if utc := string(write(Config{Wearer: "Ana", Zone: time.UTC}, []memory.Memory{dentist})); !strings.Contains(utc, "DTSTART:20261020T100000Z\r\n") || strings.Contains(utc, "VTIMEZONE") {
		t.Error(utc)
	}
}

func TestBirthdays(t *testing.T) {
	for s, want := range map[string]string{"March 3": "03-03", "3月3日": "03-03", "February 29": "02-29", "2 May": "05-02", "2001-04-05": "04-05", "March": "", "soon": "", "": "", "February 30": ""} {
		m, d, ok := dayOf(s)
		got := ""
		if ok {
			got = time.Date(2000, m, d, 0, 0, 0, 0, time.UTC).Format("01-02")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
