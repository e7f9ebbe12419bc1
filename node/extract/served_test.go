package extract

import (
	"fmt"
	"testing"
	"time"
)

func TestRecentlyServedTexts(t *testing.T) {
	at := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	var x Extractor
	x.NoteServed(at, "Maja's car is a red Skoda", "My car is a red Skoda", "Maja's red car", "I hate horror movies", "我妹妹住在杭州,在医院上班")
	for _, c := range []struct {
		text string
		at   time.Time
		want bool
	}{
		{"My car is a red Skoda", at.Add(time.Minute), true},
		{"My car is a red Skoda. I hate horror movies. And Maja's car is a red Skoda.", at.Add(time.Minute), true},
		{"You told me: my car is a red Skoda.", at.Add(time.Minute), true},
		{"你说过:我妹妹住在杭州,在医院上班。", at.Add(time.Minute), true},
		{"My car is a red Skoda, licence plate B-ML 2045, and it needs new brakes.", at.Add(time.Minute), false},
		{"My car is a red Skoda", at.Add(11 * time.Minute), false},
		{"Maja's red car", at.Add(time.Minute), false},                             // too short to be distinguished from chance
		{"I hate horror movies but I love thrillers.", at.Add(time.Minute), false}, // as many words of its own
		{"我妹妹住在杭州,在医院上班,下个月要结婚了,请了一百个人", at.Add(time.Minute), false},               // the same
	} {
		if got := x.served.recently(c.text, c.at); got != c.want {
			t.Errorf("%q after %s: %v", c.text, c.at.Sub(at), got)
		}
	}
}

// The number of texts that were given out is limited: the text that was not given out for the
// longest time is forgotten first, and so are old ones.
func TestServedIsBounded(t *testing.T) {
	var x Extractor
	begin := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	line := func(i int) string { return fmt.Sprintf("the number of this line is %d", i) }
	for i := range servedMost {
		x.NoteServed(begin, line(i))
	}
	x.NoteServed(begin, line(0)) // again
	for i := range 100 {
		x.NoteServed(begin, line(servedMost+i))
	}
	if len(x.served.texts) != servedMost || x.served.order.Len() != servedMost {
		t.Errorf("%d texts in an order of %d, want %d", len(x.served.texts), x.served.order.Len(), servedMost)
	}
	for i, want := range map[int]bool{0: true, 1: false, 100: false, 101: true} {
		if got := x.served.recently(line(i), begin); got != want {
			t.Errorf("line %d is known: %v, want %v", i, got, want)
		}
	}
	x.NoteServed(begin.Add(servedFor/2), line(101))
	x.NoteServed(begin.Add(servedFor+time.Second), line(0))
	if len(x.served.texts) != 2 {
		t.Errorf("%d texts after ten minutes, want the new one and the one that was given out meanwhile", len(x.served.texts))
	}
}
