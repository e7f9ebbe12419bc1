package rules

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// refusedAs reports whether a line is refused with this kind, and gives nothing.
func refusedAs(t *testing.T, line, kind string) bool {
	out := hear(t, line)
	return len(out.Candidates) == 0 && slices.ContainsFunc(out.Refusals, func(r abi.Refusal) bool { return r.Kind == kind })
}

// Speech recognition writes a question without its mark, or ends it with a full stop.
func TestUnmarked(t *testing.T) {
	for _, line := range []string{
		"is Jonas a vegetarian", "is jonas a vegetarian", "Is Jonas a vegetarian.", "is Eva pregnant", "is Dad coming on Friday", "is mum at home", "was Anna at the party",
		"isn't Tom coming on Friday", "are Tom and Eva coming on Friday", "is my sister a nurse", "is my appointment on Friday", "is the museum open on Sunday",
		"are the keys in the drawer", "is there milk in the fridge", "are there any eggs left", "is the train late",
		"when does the train leave", "When does the train leave.", "when is my dentist appointment", "when's the dentist", "when did I last see Eva", "when will the plumber come",
		"so when does the museum close", "where is my phone.", "what is the plan for Friday.", "what time is the dentist on Thursday.", "how many eggs do I need.", "when is Easter",
		"does the bus leave at 7:40 or 7:50", "doesn't the bus stop in Graz", "did the bus leave on time", "does Eva work at Siemens", "does jonas eat meat", "did Tom call", "did dad call",
		"do my parents live in Graz", "do the Meiers live in Graz", "does anyone have a charger", "did the kids have fun",
		"will the plumber come tomorrow", "will the shop be open on Sunday", "can Rolf cook", "can Mum pick up the kids", "should my sister take the train", "could the appointment be moved to Friday",
		"will Anna and Tom visit us on Friday", "has Tom called", "has the package arrived", "have you seen my keys", "have we paid the rent",
	} {
		if !refusedAs(t, line, "question") {
			t.Errorf("%q is not refused as a question: %q", line, keys(hear(t, line)))
		}
	}
	for _, line := range []string{
		"When I was young I lived in Graz", "When Tom came home we ate pizza.", "When Will came home we watched a film.", "When the train leaves at nine I take it.", "When is done is done",
		"When in Graz I stay with Eva.", "Do not forget the milk", "Is what it is", "Does the job", "Does the school run on Mondays", "Does have a dog", "Did the dishes and paid the rent",
		"Did the school run this morning", "Did my driving test on Friday", "Did the weekly shop at Lidl", "Did Tom a favour yesterday", "Did Pilates with Eva yesterday", "Do yoga on Mondays",
		"Which reminds me, the rent is due Monday", "Which is why I moved to Graz.", "Have a dentist appointment on Friday", "Have my hair cut on Friday", "Have the kids on Friday",
		"Have Tom over for dinner on Friday", "Had lunch with Eva", "Had the car repaired yesterday", "Has a dog called Rex", "Has the flat cleaned every week", "Has her hair done on Fridays",
		"Has been to Rome", "Was my first day at Siemens yesterday", "Was Tom's birthday yesterday", "Was our anniversary on Sunday", "Was in Graz yesterday", "Were in Rome last week with Eva",
		"Is the best restaurant in Graz", "Is German and lives in Graz", "Is a nurse in Graz", "Is my colleague at Siemens", "Is my best friend", "Is not a vegetarian", "Is home with the flu",
		"Is CEO at Bosch", "Isn't allergic to nuts", "Are moving to Graz in May", "Will Smith is my neighbour", "Will lives in Graz", "Will call Tom tomorrow", "Can speak German",
		"Can opener is in the drawer", "May is my favourite month", "Should be at Siemens by nine tomorrow", "What I need is a new bike.", "What is important is that Tom lives in Graz.",
		"What do you know, Tom got married yesterday.", "is Jonas a vegetarian, I need to cook on Friday",
	} {
		if refusedAs(t, line, "question") {
			t.Errorf("%q is refused as a question", line)
		}
	}
}

// A sentence that only says that something is wrong has no content; with the right value it has.
func TestTakenBack(t *testing.T) {
	for _, line := range []string{"No, that's wrong.", "No, that is not right.", "that's not true", "no that's incorrect", "That was wrong.", "No, you got that wrong.", "That's not what I said.",
		"Wrong.", "Not true.", "I got it wrong", "不对", "不，不是这样的。", "说错了。", "不对不对"} {
		if !refusedAs(t, line, "filler") {
			t.Errorf("%q: %q, %v", line, keys(hear(t, line)), hear(t, line).Refusals)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"That's wrong, I live in Graz.", "home=graz"},
		{"No, that's wrong. I live in Linz.", "home=linz"},
		{"No, that's not right: the dentist is on Thursday at four.", "dentist_appointment@2026-09-17 16:00"},
		{"Which reminds me, the rent is due Monday", "plan@2026-09-21"},
		{"不对，我住在上海。", "home=上海"},
	} {
		if got := keys(hear(t, c.line)); !slices.Contains(got, c.want) {
			t.Errorf("%q: %q, want %s", c.line, got, c.want)
		}
	}
}

// A reminder of nothing is not a reminder.
func TestReminderOfNothing(t *testing.T) {
	for _, said := range []string{"提醒我别忘了。", "能不能提醒我要得？", "提醒我记得。"} {
		if out := hear(t, said); len(out.Candidates) > 0 {
			t.Errorf("%s: %q", said, out.Candidates[0].Text)
		}
	}
}
