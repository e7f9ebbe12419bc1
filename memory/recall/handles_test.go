package recall

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// days is a life of forty days up to june. Each day has five lines that differ only in their
// things, and that have words which questions about days use.
func days(t *testing.T) *Index {
	x := openOn(t, newSegments(), Options{})
	frames := []string{"The %s is broken again.", "It happened to the %s as well.", "I said that the %s can wait.", "我们聊了%s的事情。", "What a place, this %s, worth a visit."}
	things := []string{"boiler", "piano", "tent", "kettle", "ladder", "violin", "fence"}
	for d := range 40 {
		var lines [][2]string
		for i, f := range frames {
			lines = append(lines, [2]string{[]string{"Ana", "Ben"}[i%2], fmt.Sprintf(f, things[(d+i)%len(things)])})
		}
		talk(t, x, "s"+strconv.Itoa(d), june.AddDate(0, 0, -d), 100*d+1, lines...)
	}
	return x
}

// If a day is all that a question names, that day's lines are found with confidence, but not for a
// day on which nothing was said.
func TestQuestionThatNamesOnlyADay(t *testing.T) {
	x := days(t)
	for q, back := range map[string]int{
		"What did we do on May 28th?": 15, "what happened on 28 May": 15, "What did we talk about last Tuesday?": 2, "what was said two days ago": 2,
		"2025-05-28": 15, "the day before yesterday": 2, "五月二十八号我们聊了什么": 15, "5月28日发生了什么事情": 15, "上周二说了什么": 9, "前天我们做了什么": 2, "大前天发生了什么": 3,
		"What happened yesterday?": 1, "三天前我们谈了什么": 3,
	} {
		r := find(t, x, Query{Text: q, Now: june, Wearer: "Ana", K: 5})
		for i, h := range r.Hits {
			if !h.At.Truncate(24 * time.Hour).Equal(june.AddDate(0, 0, -back).Truncate(24 * time.Hour)) {
				t.Errorf("%s: hit %d is of %s", q, i+1, h.At.Format(time.DateOnly))
				break
			}
		}
		if r.Confidence < Unsure || len(r.Hits) < 5 {
			t.Errorf("%s: confidence %.2f, %d hits", q, r.Confidence, len(r.Hits))
		}
	}
	for _, q := range []string{"What did we do on January 5th?", "一月五号我们聊了什么"} {
		if r := find(t, x, Query{Text: q, Now: june, Wearer: "Ana"}); r.Confidence >= Unsure {
			t.Errorf("%s: confidence %.2f", q, r.Confidence)
		}
	}
}

// The node records where the wearer was in its own words, which differ from those of the question.
func TestPlacesOfADay(t *testing.T) {
	x := days(t)
	var want []memory.ID
	for i, place := range []string{"Blue Mill", "Harbour Clinic", "Market Hall", "外滩"} {
		for _, back := range []int{0, 1, 20} {
			at := june.AddDate(0, 0, -back).Add(time.Duration(i) * time.Hour)
			id := idOf(9000 + 100*back + i)
			d := Doc{ID: id, Kind: Memory, Type: memory.Episodic, At: at, Text: "Ana arrived at " + place + ", " + at.Format("2006-01-02 15:04"), Entities: []string{place}}
			if err := x.Add(d); err != nil {
				t.Fatal(err)
			}
			if back == 0 {
				want = append(want, id)
			}
		}
	}
	for _, q := range []string{"Which places did I visit today?", "Where did I go today?", "Where have I been today?", "今天去了哪些地方", "我今天去过哪儿？"} {
		r := find(t, x, Query{Text: q, Now: june.Add(10 * time.Hour), Wearer: "Ana", K: 5})
		found := 0
		for _, h := range r.Hits {
			for _, id := range want {
				if h.ID == id {
					found++
				}
			}
		}
		if found < 4 || r.Confidence < Unsure {
			t.Errorf("%s: %d of 4 visits within five hits, confidence %.2f", q, found, r.Confidence)
		}
	}
}

// The day alone answers no question that asks for something else, too.
func TestOnlyTheDay(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	lines := []string{"Dave from work is leaving at the end of the month", "My mum can't eat grapefruit", "My favourite coffee place is the one on Leith Walk", "We had pizza yesterday"}
	for i, line := range lines {
		doc := Doc{ID: idOf(i + 1), Kind: Utterance, Session: strconv.Itoa(i), At: june, Speaker: "Ana", Text: line}
		if i == 3 {
			doc.At = june.AddDate(0, 0, -9)
		}
		if err := x.Add(doc); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Date(2025, 6, 30, 12, 0, 0, 0, time.UTC)
	if r := find(t, x, Query{Text: "what did I eat yesterday", Now: end, Wearer: "Ana", K: 3}); r.Confidence >= Unsure {
		t.Errorf("%v, %+v", r.Confidence, r.Hits)
	}
	if r := find(t, x, Query{Text: "what happened yesterday", Now: end, Wearer: "Ana", K: 3}); r.Confidence < Unsure {
		t.Errorf("%v, %+v", r.Confidence, r.Hits)
	}
}
