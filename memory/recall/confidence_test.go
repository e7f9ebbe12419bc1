package recall

import (
	"slices"
	"testing"
)

// What was never said is not known, however many of the question's other words were said; what was
// said is known, also in other words.
func TestKnownAndUnknown(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "a", june, 1,
		[2]string{"Ana", "My birthday is on the ninth of May, I will be forty."},
		[2]string{"Ben", "We should go dancing then."},
		[2]string{"Ana", "I take a pottery class on Thursdays in the old mill."},
		[2]string{"Ben", "The dentist moved my appointment to ten."},
		[2]string{"Ana", "Our dog Rufus ate a whole cake."})
	talk(t, x, "b", june.AddDate(0, 0, 2), 11,
		[2]string{"Ana", "Write it with a capital H, capital K."},
		[2]string{"Ben", "My boss gave me a raise, so we booked a week in Crete."},
		[2]string{"Ana", "The car needs new brakes before that."},
		[2]string{"Ben", "我下周三去上海出差，住外滩的酒店。"},
		[2]string{"Ana", "好的，护照在抽屉里。"})
	for q, known := range map[string]bool{
		"What are my hobbies?": true, "What are my instruments?": false, "When is Ana's birthday?": true, "What class does Ana take?": true, "When is the dentist's appointment?": true, "What did the dog eat?": true,
		"Where did they book a week?": true, "What does the car need?": true, "Ben下周三去哪里": true, "护照在哪里": true, "Where is the passport?": true,
		"What happened to the dentist's appointment?": true, "What happened to the violin?": false,
		"What's the capital of France?": false, "When is Zoe's birthday?": false, "What class does Zoe take?": false, "Where did Quentin book a week?": false, "Is Gretel forty?": false,
		"What is the name of the submarine captain?": false, "When did Ana sell the violin?": false, "Which river floods the tennis court?": false,
		"潜水艇的船长是谁": false, "谁偷了小提琴": false, "酒店的健身房几点开": false,
	} {
		if r := find(t, x, Query{Text: q, Now: june, Wearer: "Ana"}); (r.Confidence >= Unsure) != known {
			t.Errorf("%q: confidence %.2f", q, r.Confidence)
		}
	}
}

// TestWhoseLineAnswers: what Ben did says nothing about Ana, unless he speaks of her; what somebody
// tells the wearer does.
func TestWhoseLineAnswers(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ben", "I bought a kayak in Porto."})
	talk(t, x, "s2", june.AddDate(0, 0, 1), 11, [2]string{"Ana", "The garden wants water."})
	talk(t, x, "s3", june.AddDate(0, 0, 2), 21, [2]string{"Ben", "Ana rented a tandem in Lisbon."})
	sure := func(question, wearer string) float64 {
		return find(t, x, Query{Text: question, Now: june.AddDate(0, 1, 0), Wearer: wearer}).Confidence
	}
	if got := sure("What did Ben buy in Porto?", ""); got != 1 {
		t.Errorf("Ben's own: %v", got)
	}
	if got := sure("What did Ana buy in Porto?", ""); got < .34 || got > shareOther*shareLed {
		t.Errorf("Ana's, of whom nobody says it: %v", got)
	}
	if got := sure("What did Ana rent in Lisbon?", ""); got != 1 {
		t.Errorf("Ana's, of whom Ben says it: %v", got)
	}
	if got := sure("What did I buy in Porto?", "Ana"); got != 1 {
		t.Errorf("the wearer's: %v", got)
	}
}

// TestNeighbouringLineOfAnother: a line by another person next to a line by the one who is asked about is
// about that other person, unless it is a question.
func TestNeighbouringLineOfAnother(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ben", "I won the pottery cup."}, [2]string{"Ana", "Wow, that's great!"})
	talk(t, x, "s2", june.AddDate(0, 0, 1), 11, [2]string{"Ben", "Did you ride the tandem?"}, [2]string{"Ana", "Yes, on Friday!"})
	for question, known := range map[string]bool{"Who won the pottery cup?": true, "Did Ana win the pottery cup?": false, "Did Ben win the pottery cup?": true, "Did Ana ride the tandem?": true} {
		if got := find(t, x, Query{Text: question, Now: june.AddDate(0, 1, 0)}).Confidence; (got >= Unsure) != known {
			t.Errorf("%s: %v", question, got)
		}
	}
}

// TestWhenQuestionNeedsATime: a line that names no time, with no such line next to it, answers "when"
// less surely.
func TestWhenQuestionNeedsATime(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ben", "The kayak is in the shed."})
	talk(t, x, "s2", june.AddDate(0, 0, 1), 11, [2]string{"Ben", "The tandem race was fun."}, [2]string{"Ben", "It was yesterday."})
	for question, want := range map[string]float64{"When is the kayak in the shed?": shareUndated, "Is the kayak in the shed?": 1, "When was the tandem race?": 1} {
		if got := find(t, x, Query{Text: question, Now: june.AddDate(0, 1, 0)}).Confidence; got < want-.01 || got > want+.01 {
			t.Errorf("%s: %v, want %v", question, got, want)
		}
	}
}

// TestMinorHits: with a line that answers in full, a person needs neither the lines before and after it
// nor lines that share little with the question; with one that does not, they do. All hits for
// something that nobody spoke of are minor.
func TestMinorHits(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "a", june, 1,
		[2]string{"Ana", "I lent Peter forty euros."},
		[2]string{"Ana", "The spare key is under the blue flower pot."},
		[2]string{"Ana", "I finished the big novel last night."},
		[2]string{"Ben", "Where did you put the old violin?"},
		[2]string{"Ana", "Up in the attic, behind the suitcases."},
		[2]string{"Ben", "The bakery has a new oven."})
	for _, tt := range []struct {
		question string
		want     []byte // last bytes of the ids that are shown
	}{
		{"Where is the spare key?", []byte{2}},
		{"What did Ana lend Peter?", []byte{1}},
		{"What does the bakery have?", []byte{6}},
		{"Where is the violin of the attic?", []byte{3, 4, 5, 6}},
		{"What is the name of my tortoise?", nil},
		{"谁偷了潜水艇", nil},
	} {
		var shown []byte
		for _, h := range find(t, x, Query{Text: tt.question, Now: june, Wearer: "Ana"}).Hits {
			if !h.Minor {
				shown = append(shown, h.ID[len(h.ID)-1])
			}
		}
		slices.Sort(shown)
		if !slices.Equal(shown, tt.want) {
			t.Errorf("%q: %v are shown, want %v", tt.question, shown, tt.want)
		}
	}
}

// TestHitOfAModelIsNotMinor: a document that a model finds near has none of the question's words, and is
// still shown.
func TestHitOfAModelIsNotMinor(t *testing.T) {
	hits := []Hit{{Score: .8}, {Score: .7}, {Score: .6}, {Score: .3}}
	minor(hits, []share{{1, 1}, {1, 1}, {0, .9}, {1, 1}}, 1)
	for i, want := range []bool{false, false, true, true} {
		if hits[i].Minor != want {
			t.Errorf("hit %d: minor is %t", i, hits[i].Minor)
		}
	}
}

// TestWhoseLineAnswersAfterAName: a line that goes on about somebody whom the line before it names is
// about that person.
func TestWhoseLineAnswersAfterAName(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1,
		[2]string{"Carl", "I'll take Isla to school."},
		[2]string{"Nora", "She needs her recorder, it's in the blue tub."},
		[2]string{"Carl", "It is cold today."},
		[2]string{"Nora", "The kettle boils."})
	talk(t, x, "s2", june.AddDate(0, 0, 1), 11, [2]string{"Isla", "I drew a whale."})
	for q, known := range map[string]bool{"Where is Isla's recorder?": true, "Where is Isla's kettle?": false} {
		if r := find(t, x, Query{Text: q, Now: june.AddDate(0, 1, 0), Wearer: "Nora"}); (r.Confidence > shareOther) != known {
			t.Errorf("%q: confidence %.2f", q, r.Confidence)
		}
	}
}

// TestPartOfADay: a question about an evening is one about its day.
func TestPartOfADay(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "I am at the rink most evenings."}, [2]string{"Ben", "晚上一般在家看书。"})
	talk(t, x, "s2", june.AddDate(0, 0, 5), 11, [2]string{"Ana", "The frog moved into the pond."}, [2]string{"Ben", "青蛙搬进池塘了。"})
	now := june.AddDate(0, 0, 6)
	for _, q := range []string{"What happened yesterday evening?", "昨天晚上聊了什么"} {
		r := find(t, x, Query{Text: q, Now: now})
		if len(r.Hits) == 0 || r.Hits[0].ID != idOf(11) && r.Hits[0].ID != idOf(12) || r.Confidence < Unsure {
			t.Errorf("%q: %v, confidence %.2f", q, r.Hits, r.Confidence)
		}
	}
}
