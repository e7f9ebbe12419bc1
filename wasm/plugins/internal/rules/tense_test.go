package rules

import (
	"strings"
	"testing"
)

// A time has the tense of its own clause, and not that of "said". Today is Monday, 14 September
// 2026.
func TestReportedTimes(t *testing.T) {
	for _, c := range []struct{ said, says, want string }{
		{"Karin told me the deadline is on Tuesday.", "Tuesday 15 September 2026", "user.deadline@2026-09-15"},
		{"Anna said the wedding is on Friday.", "Friday 18 September 2026", "user.wedding@2026-09-18"},
		{"Anna said the wedding's on Friday at three.", "Friday 18 September 2026, 15:00", "user.wedding@2026-09-18 15:00"},
		{"My sister told me the concert is on Friday.", "Friday 18 September 2026", "user.concert@2026-09-18"},
		{"Ben said he is moving to Lisbon in January.", "January 2027", "ben.plan@2027-01-01"},
		{"Ben says he is moving to Lisbon in January.", "January 2027", "ben.plan@2027-01-01"},
		{"Mum said Dad has surgery in February.", "February 2027", "user's mother.surgery@2027-02-01"},
		{"I told Anna that the exam is in June.", "June 2027", "user.exam@2027-06-01"},
		{"My boss confirmed the launch is in March.", "March 2027", "user.launch@2027-03-01"},
		{"Karin told me the course starts on Friday.", "Friday 18 September 2026", "karin.plan@2026-09-18"},
		{"Anna said she'd come on Friday.", "Friday 18 September 2026", "anna.plan@2026-09-18"},
		{"Karin said Friday is fine.", "Friday 18 September 2026", "karin.plan@2026-09-18"},
		{"Karin told me that on Friday she is off.", "Friday 18 September 2026", "karin.plan@2026-09-18"},
		{"Karin told me on Saturday that the deadline is on Friday.", "Friday 18 September 2026", "user.deadline@2026-09-18"},
		{"Karin told me on Saturday that the deadline is on Friday.", "Saturday 12 September 2026", "user.deadline@2026-09-18"},
		{"王伟说会议是周五。", "2026年9月18日", "user.meeting@2026-09-18"},
		// A past event that somebody reported, and the time of the report.
		{"Ben said he moved to Lisbon in January.", "January 2026", "event@2026-01-01"},
		{"Ben told me he was in Lisbon on Friday.", "Friday 11 September 2026", "event@2026-09-11"},
		{"Anna told me she has moved to Rome in January.", "January 2026", "event@2026-01-01"},
		{"Ben told me on Friday that he is sick.", "Friday 11 September 2026", "event@2026-09-11"},
		{"Anna said on Friday she was tired.", "Friday 11 September 2026", "event@2026-09-11"},
		{"Karin told me about the walks on Friday.", "Friday 11 September 2026", "event@2026-09-11"},
		{"I told Ben the car was stolen on Friday.", "Friday 11 September 2026", "event@2026-09-11"},
		{"I said goodbye to Ben on Friday.", "Friday 11 September 2026", "event@2026-09-11"},
		{"妈妈告诉我她周五去看了医生。", "2026年9月11日", "event@2026-09-11"},
		// A clause with another verb: its own time, and no plan for the day.
		{"I met Ben, who is moving to Lisbon in January.", "January 2027", "event@2026-09-14 10:00"},
		{"I saw the film that is out now on Friday.", "Friday 11 September 2026", "event@2026-09-11"},
		// Something that nobody said to be true.
		{"Anna said the wedding isn't on Friday.", "Friday 18 September 2026", "noted"},
		{"My boss told me to send the report by Friday.", "Friday 18 September 2026", "noted@2026-09-18"},
	} {
		out := hear(t, c.said)
		if len(out.Candidates) != 1 {
			t.Errorf("%s: %q", c.said, keys(out))
			continue
		}
		a := &out.Candidates[0]
		got := keys(out)[0]
		if a.Slot != nil {
			got = a.Slot.Subject + "." + got
		}
		if got != c.want || !strings.Contains(a.Text, c.says) {
			t.Errorf("%s: %s: %q, want %s: %q", c.said, got, a.Text, c.want, c.says)
		}
	}
	if out := hear(t, "Ben asked if the party is on Friday."); len(out.Candidates) > 0 {
		t.Errorf("a question that is told: %q", keys(out))
	}
}

// "A fan of" is three words, and not the beginning of others.
func TestFanOf(t *testing.T) {
	if out := hear(t, "I'm a fan offline."); len(out.Candidates) > 0 {
		t.Errorf("%q", keys(out))
	}
	if got := keys(hear(t, "I'm a fan of jazz.")); len(got) != 1 || got[0] != "likes=jazz" {
		t.Errorf("%q", got)
	}
}
