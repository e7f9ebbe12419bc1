package recall

import "testing"

func TestFindPledges(t *testing.T) {
	for text, want := range map[string]bool{
		"I'll get the slides to you by Sunday, Marek.":  true,
		"I’ll definitely send you the photos.":          true,
		"You'll have the contract from me by Friday.":   true,
		"Chidi will get the slides to Marek by Sunday.": true,
		"I will pick up the kids.":                      true,
		"我明天把合同发给你。":                                    true,
		"我答应带他去动物园。":                                    true,
		"Marek's daughter Elif will be ten on Sunday.":  false,
		"I'll be late.":                     false,
		"Will you send me the slides?":      false,
		"I'll never understand it.":         false,
		"我会游泳。":                             false,
		"The parcel will arrive on Monday.": false,
		"They sent the minutes.":            false,
	} {
		if got := pledge(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// A promise is found by who made it to whom, because it seldom contains a word for promising.
func TestPromiseQuestions(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1,
		[2]string{"Marek", "My daughter Elif will be ten on Sunday"},
		[2]string{"Chidi", "Lovely, Marek"},
		[2]string{"Marek", "This chair is going to kill me"},
		[2]string{"Chidi", "Marek, I put your printer behind the sofa"},
		[2]string{"Chidi", "I'll get the slides to you by Sunday, Marek"},
		[2]string{"Chidi", "Marek has been vegan for years"},
	)
	for _, question := range []string{"What did I promise to send Marek?", "What do I owe Marek?"} {
		if r := find(t, x, Query{Text: question, Now: june, Wearer: "Chidi", K: 3}); len(r.Hits) == 0 || r.Hits[0].ID != idOf(5) {
			t.Errorf("%q: %+v", question, r.Hits)
		}
	}
}
