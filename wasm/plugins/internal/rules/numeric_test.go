package rules

import (
	"strings"
	"testing"
)

// TestNumericDates reads dates in digits on monday, 14 September 2026; "-" is no time at all.
func TestNumericDates(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"See you on 2027-03-15", "2027-03-15"},
		{"See you on 2027-03-15 at 9:30", "2027-03-15 09:30"},
		{"See you on 2027/3/15", "2027-03-15"},
		{"See you on 2027.3.15", "2027-03-15"},
		{"See you on 12.6.2027 at 14:00", "2027-06-12 14:00"},
		{"See you on 03.04.2027 at six", "2027-04-03 18:00"},
		{"See you at six on 12.6.2027", "2027-06-12 18:00"},
		{"See you on 12.6.", "2027-06-12"},
		{"See you on 12.10. at two, Anna", "2026-10-12 14:00"},
		{"See you on Saturday, 12.6.2027 at nine", "2027-06-12 09:00"},
		{"See you on Saturday 12.6. at nine", "2027-06-12 09:00"},
		{"See you on Saturday, 12 June 2027 at nine", "2027-06-12 09:00"},
		{"See you on Saturday 12 June at nine", "2027-06-12 09:00"},
		{"See you on Saturday, June 12th", "2027-06-12"},
		{"See you on Friday, 30 February at nine", "-"},
		{"I am away from Friday, 18 September to Sunday, 20 September", "2026-09-18 and 2026-09-20"},
		{"See you on Friday, 7/3 at nine", "-"},
		{"I moved here on 12.6.2019", "2019-06-12"},
		{"See you on 15/01/2027 at 9:30", "2027-01-15 09:30"},
		{"See you on 01/15/2027 at 9:30", "2027-01-15 09:30"},
		{"See you on 3/3/2027", "2027-03-03"},
		{"See you on 24/12", "2026-12-24"},
		{"See you on 12/24 at six", "2026-12-24 18:00"},
		{"See you on 15-01-2027", "2027-01-15"},
		{"我2027-03-15去看牙医", "2027-03-15"},
		{"面试在2027/3/15上午九点", "2027-03-15 09:00"},
		{"婚礼在2027.3.15晚上六点", "2027-03-15 18:00"},
		{"我15/01/2027搬家", "2027-01-15"},
		// Ambiguous order of day and month. And days that do not exist.
		{"See you on 03/04/2027 at 8", "-"},
		{"See you at 8 on 03/04/2027", "-"},
		{"The visit at eight is on 03/04/2027", "-"},
		{"See you on 7/3 at six", "-"},
		{"See you on 7.3 at six", "-"},
		{"See you on 15/01/27 at six", "-"},
		{"See you on 12.6.27 at six", "-"},
		{"See you on 31.2.2027 at 14:00", "-"},
		{"See you on 30/02/2027 at 9", "-"},
		{"See you on 2027-02-30 at 9:30", "-"},
		{"See you on 2027-13-01", "-"},
		{"See you on 32.1.2027", "-"},
		{"面试在2027/2/30上午九点", "-"},
		{"聚会在7/3晚上六点", "-"},
		// Numbers that are not dates.
		{"I ran 3.5 km", "-"},
		{"I ran for 5.5 km at noon", "2026-09-14 12:00"},
		{"I slept for 7.5 hours", "-"},
		{"It rose from 7.3 to 7.5.", "-"},
		{"The rent went up by 3.5.", "-"},
		{"I get up before 7.10.", "-"},
		{"Take 1/2 cup of flour", "-"},
		{"We are open 24/7", "-"},
		{"They are on 24/7 support", "-"},
		{"It was after 9/11", "-"},
		{"We are on version 2.6.1", "-"},
		{"It runs version 2.6.2027", "-"},
		{"The film is rated 7/10", "-"},
		{"They won 7/3", "-"},
		{"It cost 12.50", "-"},
		{"The host is 12.6.20.27", "-"},
		{"Release 12.6.2 is out", "-"},
		{"I waited for 1/2 hour at noon", "2026-09-14 12:00"},
		{"They won 7/3 at noon", "2026-09-14 12:00"},
		{"We are in room 3/4 at noon", "2026-09-14 12:00"},
		{"We updated to 12.6.2 at noon", "2026-09-14 12:00"},
	} {
		if got := reading(c.said); got != c.want {
			t.Errorf("%s: %s, want %s", c.said, got, c.want)
		}
	}
}

// The result of a line with a date in digits: the memory has the date, or the words and no date.
func TestNumericDatesKept(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"I see the dentist on 15/01/2027 at 9:30.", "dentist_appointment@2027-01-15 09:30"},
		{"The wedding is on 12.6.2027 at 14:00.", "wedding@2027-06-12 14:00"},
		{"Our flight is on 2027-03-15 at 9:30.", "flight@2027-03-15 09:30"},
		{"Lea's party is on 24/12 at six.", "party@2026-12-24 18:00"},
		{"Lea's party is on 12.6. at six.", "party@2027-06-12 18:00"},
		{"I have a dentist appointment on Friday at nine for 1.5 hours.", "dentist_appointment@2026-09-18 09:00"},
		{"My birthday is on 12.6.", "birthday=june 12"},
		{"My birthday is 24/12/1985.", "birthday=december 24"},
		{"面试在2027/3/15上午九点。", "interview@2027-03-15 09:00"},
		{"婚礼是2027.3.15。", "wedding@2027-03-15"},
		{"My appointment with Dr. Klein is on 03/04/2027 at 8.", "noted"},
		{"My dentist appointment at 8 is on 03/04/2027.", "noted"},
		{"Lea's party is on 7/3 at six.", "noted"},
		{"Lea's party is on 7/3, it starts at six.", "noted"},
		{"Lea's party is on 12.6 at six.", "noted"},
		{"The dentist is on 30/02/2027 at 9.", ""},
		{"My meeting is on 03/04/2027 at 8.", "noted"},
		{"I went to Rome on 03/04/2020.", "event"},
		{"I moved to Lisbon on 03/04/2020.", "home=lisbon"},
		{"I adopted a dog called Rex on 03/04/2020.", "pets=rex"},
		{"My dad was born on 7/3/1950.", "noted"},
		{"The old Volvo went for four thousand on 03/04/2026.", "sale"},
		{"I visited Anna in Oslo on 30 February.", "event"},
		{"我03/04/2020去了北京。", "noted"},
		{"We booked the hotel from 12/06/2027 to 19/06/2027.", "plan@2027-06-12"}, // the other date shows which is the month
		{"We booked the hotel from 06/12/2027 to 06/19/2027.", "plan@2027-06-12"},
		{"We booked the hotel from 12.6. to 19.6.2027.", "plan@2027-06-12"},
		{"I have an exam on 7/3, so I'll get up at six.", ""},
		{"I have a dentist appointment on Friday at nine. / The dentist is on 03/04/2027 now.", ""},
		{"I have a dentist appointment on Friday at nine. / We moved the dentist to 15/01/2027 at 8.", "dentist_appointment@2027-01-15 08:00"},
	} {
		out := hear(t, c.said)
		if got := strings.Join(keys(out), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
		for i := range out.Candidates {
			if a := &out.Candidates[i]; !strings.Contains(c.want, "@") && (a.Started != 0 || a.TrueFrom != 0) {
				t.Errorf("%s: has a date: %q", c.said, a.Text)
			}
		}
	}
}

// Each thing that expires has a slot of its own: a passport isn't the visa.
func TestExpires(t *testing.T) {
	for _, c := range []struct{ said, slot, day string }{
		{"The visa expires on 2027-03-15.", "plan: visa expires", "2027-03-15"},
		{"My visa expires on 15 March 2027.", "plan: visa expires", "2027-03-15"},
		{"My visa is expiring on 15.3.2027.", "plan: visa expires", "2027-03-15"},
		{"Our lease expires in March.", "plan: lease expires", "2027-03-01"},
		{"Anna's passport expires on 12.6.2027.", "plan: anna's passport expires", "2027-06-12"},
	} {
		out := hear(t, c.said)
		if len(out.Candidates) != 1 || out.Candidates[0].Slot == nil || out.Candidates[0].Slot.Attribute != c.slot || dayIn(out.Candidates[0].Started) != c.day {
			t.Errorf("%s: %+v, want %s on %s", c.said, out.Candidates, c.slot, c.day)
		}
	}
	for said, want := range map[string]string{"My passport expired in March.": "event@2026-03-01", "My licence expires on 03/04/2027.": "noted", "Milk expires fast.": ""} {
		if got := strings.Join(keys(hear(t, said)), "; "); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}
