package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestCodes(t *testing.T) {
	for in, want := range map[string]string{
		"flight LH 1234 at gate B7":     "lh1234 1234",
		"lh-1234":                       "1234",
		"LH1234":                        "lh1234",
		"call +49 (30) 901 820":         "30901820 901820",
		"order a1b2-c3d4 is late":       "a1b2c3d4 a1b2 c3d4",
		"no code here, OK. I am 12":     "",
		"IBAN DE89 3704":                "ibande893704 ibande89 de893704 de89 3704",
		"https://example.com/x/4711-99": "471199 4711",
		"航班CA1523明天":                    "ca1523",
	} {
		var got []string
		for _, c := range codes(in) {
			got = append(got, c.term[1:])
		}
		for _, w := range strings.Fields(want) {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %v, want %s", in, got, w)
			}
		}
		if want == "" && len(got) > 0 {
			t.Errorf("%q: %v", in, got)
		}
	}
	if n := len(codes(strings.Repeat("A1 ", 5000) + strings.Repeat("9", 50))); n > codeTerms {
		t.Errorf("%d codes", n)
	}
}

// A document with the code or the quoted phrase comes first, however many other words of the
// question other documents have.
func TestExactStringsComeFirst(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	lines := []string{
		"My flight to Madrid is LH1234, it leaves at nine.",
		"The flight to Madrid was late, what a flight, Madrid again.",
		"Which flight do we take to Madrid, when does it leave?",
		"The plumber's number is 030 / 555-0199, he comes at any time.",
		"The number of the plumber is in the book, whose number is it?",
		"The parcel has the id 7Q-884-XA, ask at the counter.",
		"The parcel is at the counter, ask for the parcel.",
		"He said that all that glitters is not gold.",
		"Gold glitters, they said.",
		"All gold is heavy and that is not all.",
		"The wifi code of the flat is 4471.",
		"The code of the door of the flat is 8230, wifi is free.",
		"航班号是CA1523，周五起飞。",
		"航班周五起飞，航班很早，航班号在邮件里。",
		"My licence plate is B-XY 907, remember the plate.",
		"The licence plate of the neighbour is dirty, the plate is old.",
	}
	for i, l := range lines {
		if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, Session: "s" + strings.Repeat("x", i/4), At: june, Order: uint64(i), Text: l}); err != nil {
			t.Fatal(err)
		}
	}
	for q, want := range map[string]int{
		"when does flight LH1234 to Madrid leave": 1, "when does flight lh 1234 leave": 1, "LH-1234": 1,
		"whose number is 0305550199": 4, "whose number is 555 0199": 4,
		"what is 7Q884XA": 6, "what has the id 7q-884-xa": 6,
		`who said "all that glitters is not gold"`: 8,
		"what is 4471": 11, "which door has the code 8230": 12,
		"CA1523 是什么": 13, "CA 1523航班什么时候起飞": 13,
		"whose licence plate is BXY907": 15,
	} {
		r := find(t, x, Query{Text: q, Now: june})
		if len(r.Hits) == 0 || r.Hits[0].ID != idOf(want) || partOf(r.Hits[0], "string_match") == 0 {
			t.Errorf("%q: want line %d first: %+v", q, want, r.Hits[:min(2, len(r.Hits))])
			continue
		}
		if r.Confidence < Unsure {
			t.Errorf("%q: confidence %.2f", q, r.Confidence)
		}
		checkSums(t, r)
	}
	if r := find(t, x, Query{Text: `"glitters like silver"`}); !r.Unquoted {
		t.Errorf("nothing but a phrase that nobody said: %+v", r.Hits)
	}
	if r := find(t, x, Query{Text: `did anybody say "not gold" of the "Four Seasons"`}); len(r.Hits) == 0 {
		t.Error("a question that quotes what nobody said finds nothing at all")
	}
}

func TestPhrases(t *testing.T) {
	var p []Phrase
	for _, s := range quoted(`who said "All that glitters" or “那家 店” and "" or "not closed`) {
		p = append(p, phraseOf(s))
	}
	if len(p) != 2 {
		t.Fatalf("%q", p)
	}
	for text, want := range map[string]int{
		"So all that glitters, he said": 0, "all, THAT: glitters!": 0, "glitters all that": -1, "all that glitter": -1,
		"那家店很好": 1, "那店家": -1, "": -1,
	} {
		for i := range p {
			if p[i].In(text) != (i == want) {
				t.Errorf("%q in %q: %v", p[i], text, i != want)
			}
		}
	}
}

// If the caller has the texts, the order of the words counts.
func TestQuotesInOrder(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	lines := map[string]string{idOf(1).String(): "Dog bites man, and the paper writes of dog and man all week long", idOf(2).String(): "Man bites dog"}
	for i := range 2 {
		if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, At: june, Text: lines[idOf(i+1).String()]}); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(id memory.ID, p Phrase) bool { return p.In(lines[id.String()]) }
	for q, want := range map[string]int{`"man bites dog"`: 1, `which paper wrote "man bites dog" of a dog`: 2, `"dog man bites"`: 2} {
		r := find(t, x, Query{Text: q, Holds: holds})
		if r.Unquoted != (q == `"dog man bites"`) || len(r.Hits) != want || want > 0 && r.Hits[0].ID != idOf(2) {
			t.Errorf("%s: %+v", q, r.Hits)
		}
	}
}
