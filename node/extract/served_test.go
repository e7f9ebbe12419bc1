package extract

import (
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
