package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "It" is what the sentence has just named, and nothing else is moved. Today is Monday, 14
// September 2026.
func TestNotThen(t *testing.T) {
	const flight = "The flight to Oslo is on Friday at eight. / "
	for _, c := range []struct{ said, want string }{
		{flight + "My daughter's recital isn't on Monday, it's on Tuesday.", "recital@2026-09-15"},
		{"We're having a party in January. / My birthday isn't in June, it's on July 12th.", "birthday=july 12"},
		{flight + "My birthday isn't June 3rd but July 12th.", "birthday=july 12"},
		{flight + "My birthday is not in June. It's on July 12th.", "!birthday=june; birthday=july 12"},
		{flight + "My anniversary isn't in May, it's on October 5th.", "anniversary=october 5"},
		{flight + "The concert isn't on Thursday, it's on Tuesday.", "concert@2026-09-15"},
		{flight + "Anna's wedding is not in May, it's in June.", "wedding@2027-06-01"},
		{flight + "No, the school trip's not on Thursday, it's on Tuesday at nine.", "trip@2026-09-15 09:00"},
		{flight + "The wedding isn't on 7/3, it's on 12.6.2027.", "wedding@2027-06-12"},
		{flight + "The recital's not on Thursday - it's on Tuesday at six instead.", "recital@2026-09-15 18:00"},
		{flight + "The deadline is tight, it's on Tuesday.", "deadline@2026-09-15"},
		{flight + "The shop isn't open on Thursday, it's on Tuesday.", ""},
		// It has just named a known plan.
		{flight + "The flight isn't on Friday, it's on Saturday.", "flight_to_oslo@2026-09-19 08:00"},
		{flight + "The flight got moved, it's on Saturday.", "flight_to_oslo@2026-09-19 08:00"},
		{"I have a dentist appointment on Friday at nine. / The dentist isn't on Friday, it's on Tuesday.", "dentist_appointment@2026-09-15 09:00"},
		{"I have a dentist appointment on Friday at nine. / Anna's dentist appointment isn't on Friday, it's on Tuesday.", "dentist_appointment@2026-09-15"},
		// It has named nothing, or nobody's day.
		{flight + "It isn't on Friday, it's on Saturday.", "flight_to_oslo@2026-09-19 08:00"},
		{flight + "It's on Saturday now.", "flight_to_oslo@2026-09-19 08:00"},
		{flight + "The time changed, it's on Saturday.", "flight_to_oslo@2026-09-19 08:00"},
		{flight + "My sister's coming, it's on Saturday now.", "flight_to_oslo@2026-09-19 08:00"},
	} {
		out := hear(t, c.said)
		if got := strings.Join(keys(out), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
	}
	out := hear(t, "I have a dentist appointment on Friday at nine. / Anna's dentist appointment isn't on Friday, it's on Tuesday.")
	if len(out.Candidates) != 1 || out.Candidates[0].Slot.Subject != "anna" {
		t.Errorf("Anna's dentist: %+v", out.Candidates)
	}
	if plans, _ := discourse.DecodePlans(out.State); !slices.ContainsFunc(plans, func(p discourse.Plan) bool { return p.Subject == "user" && p.Day == timex.DayOf(2026, 9, 18) }) {
		t.Errorf("the speaker's own appointment is gone: %+v", plans)
	}
}
