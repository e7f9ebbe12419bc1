package extract

import (
	"fmt"
	"testing"
	"time"
)

func TestRecently(t *testing.T) {
	at := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	var x Extractor
	x.Served(at, "Maja's car is a red Skoda", "My car is a red Skoda", "Maja's red car", "I hate horror movies", "我妹妹住在杭州,在医院上班")
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
		{"Maja's red car", at.Add(time.Minute), false},                             // too short to be told from chance
		{"I hate horror movies but I love thrillers.", at.Add(time.Minute), false}, // as many words of its own
		{"我妹妹住在杭州,在医院上班,下个月要结婚了,请了一百个人", at.Add(time.Minute), false},               // likewise
	} {
		if got := x.served.recently(c.text, c.at); got != c.want {
			t.Errorf("%q after %s: %v", c.text, c.at.Sub(at), got)
		}
	}
}

// What is given out without end is forgotten, the first first, and what is old, too.
func TestServedIsBounded(t *testing.T) {
	var x Extractor
	begin := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	line := func(i int) string { return fmt.Sprintf("the number of this line is %d", i) }
	for i := range servedMost + 100 {
		x.Served(begin, line(i))
	}
	if len(x.served.said) != servedMost || len(x.served.order) != servedMost {
		t.Errorf("%d texts in an order of %d, want %d", len(x.served.said), len(x.served.order), servedMost)
	}
	if x.served.recently(line(99), begin) || !x.served.recently(line(100), begin) {
		t.Error("not the first ones are forgotten")
	}
	x.Served(begin.Add(servedFor+time.Second), line(0))
	if len(x.served.said) != 1 || !x.served.recently(line(0), begin.Add(servedFor)) {
		t.Errorf("%d texts after ten minutes, want the new one", len(x.served.said))
	}
}
