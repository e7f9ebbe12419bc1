package recall

import (
	"strings"
	"testing"
)

// From the sample vocabulary that the Snowball project publishes with its
// description of the English stemmer.
const stemVectors = `
consign consign|consigned consign|consigning consign|consignment consign|consist consist|consisted consist
consistency consist|consistent consist|consistently consist|consisting consist|consists consist
consolation consol|consolations consol|consolatory consolatori|console consol|consoled consol|consoles consol
consolidate consolid|consolidated consolid|consolidating consolid|consoling consol|consolingly consol|consols consol
consonant conson|consort consort|consorted consort|consorting consort|conspicuous conspicu|conspicuously conspicu
conspiracy conspiraci|conspirator conspir|conspirators conspir|conspire conspir|conspired conspir|conspiring conspir
constable constabl|constables constabl|constance constanc|constancy constanc|constant constant
knack knack|knackeries knackeri|knacks knack|knag knag|knave knave|knaves knave|knavish knavish
kneaded knead|kneading knead|knee knee|kneel kneel|kneeled kneel|kneeling kneel|kneels kneel|knees knee
knell knell|knelt knelt|knew knew|knick knick|knif knif|knife knife|knight knight|knightly knight|knights knight
knit knit|knits knit|knitted knit|knitting knit|knives knive|knob knob|knobs knob|knock knock|knocked knock
skis ski|skies sky|dying die|lying lie|news news|inning inning|proceed proceed|succeed succeed|generously generous
communities communiti|hopping hop|hoping hope|falling fall|hissing hiss|agreed agre|plastered plaster|happy happi
say say|by by|cry cri|relational relat|conditional condit|vietnamization vietnam|predication predic|hopefulness hope
analogously analog|adjustment adjust|adoption adopt|dogs dog|ties tie|cries cri|gas gas|this this|gaps gap|kiwis kiwi
`

func TestStem(t *testing.T) {
	n := 0
	for _, v := range strings.FieldsFunc(stemVectors, func(r rune) bool { return r == '|' || r == '\n' }) {
		in, want, _ := strings.Cut(v, " ")
		if got := stem(in); got != want {
			t.Errorf("stem(%q) = %q, want %q", in, got, want)
		}
		n++
	}
	if n < 100 {
		t.Fatalf("only %d vectors were read", n)
	}
}

func TestStemOfOtherWords(t *testing.T) {
	for _, w := range []string{"", "a", "is", "naïve", "x86", "北京", "'", "''", "'s", "yyy", "yy", "s's"} {
		stem(w) // it must not panic
	}
	if got := stem("b2b-ing"); got != "b2b-ing" {
		t.Errorf("a word with digits came back as %q", got)
	}
}

func FuzzStem(f *testing.F) {
	f.Add("yesterday's")
	f.Add("'y'")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToLower(s)
		if got := stem(s); len(got) > len(s)+1 {
			t.Errorf("stem(%q) = %q grew", s, got)
		}
	})
}

func TestLemma(t *testing.T) {
	for in, want := range map[string]string{
		"went": "go", "children": "kid", "three": "3", "photographs": "photo", "knives": "knife", "won": "win", "bikes": "bike", "married": "marri",
	} {
		if got := lemma(in); got != want {
			t.Errorf("lemma(%q) = %q, want %q", in, got, want)
		}
	}
}
