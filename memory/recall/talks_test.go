package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// twoTalks are a talk of testdata/friends-*.txt, and the talk that is mixed with it once its names
// are replaced.
type twoTalks struct {
	file, others string
	names        *strings.Replacer
	least        float64 // recall within ten: what was measured, less a point or so; 0: the weights were learned from it
}

var talks = []twoTalks{
	{"friends-1", "friends-2", strings.NewReplacer("Greta", "Nora", "Malik", "Theo"), 0},
	{"friends-2", "friends-1", strings.NewReplacer("Nora", "Greta", "Theo", "Malik"), 0},
	{"friends-3", "friends-1", strings.NewReplacer("Nora", "Marta", "Theo", "Owen"), 58},
	{"friends-zh-1", "friends-zh-2", strings.NewReplacer("老罗", "阿凯", "老宋", "晓雯", "林悦", "桂芳", "子涵", "思琪"), 74},
	{"friends-zh-2", "friends-zh-1", strings.NewReplacer("阿凯", "老罗", "晓雯", "老宋", "桂芳", "林悦", "思琪", "子涵"), 71},
}

// openTalk is an indexed talk with its questions, and the documents that are the evidence of each.
type openTalk struct {
	file  string
	x     *Index
	now   time.Time
	turns []friendsTurn
	asked []friendsAsked
	right []map[memory.ID]bool
}

func (two twoTalks) open(t *testing.T) openTalk {
	t.Helper()
	turns, asked := readFriends(t, "testdata/"+two.file+".txt")
	others, _ := readFriends(t, "testdata/"+two.others+".txt")
	o := openTalk{file: two.file, turns: turns, asked: asked}
	o.x, o.now = friends(t, turns, others, two.names)
	for _, q := range asked {
		o.right = append(o.right, evidenceOf(turns, q))
	}
	return o
}

// figures are evidence recall in per cent, within 5, 10 and 25 hits.
type figures [3]float64

func (f figures) String() string { return fmt.Sprintf("%.1f/%.1f/%.1f", f[0], f[1], f[2]) }

// recalled measures all questions of a talk, and those of each kind.
func (o openTalk) recalled(t *testing.T, w *Weights) (all figures, kinds map[string]figures) {
	t.Helper()
	kinds = map[string]figures{}
	asked := map[string]float64{}
	for _, q := range o.asked {
		asked[q.kind]++
	}
	for i, q := range o.asked {
		of := kinds[q.kind]
		for n, h := range find(t, o.x, Query{Text: q.text, Now: o.now, K: 25, Weights: w}).Hits {
			for j, k := range []int{5, 10, 25} {
				if n < k && o.right[i][h.ID] {
					share := 100 / float64(len(o.right[i]))
					all[j] += share / float64(len(o.asked))
					of[j] += share / asked[q.kind]
				}
			}
		}
		kinds[q.kind] = of
	}
	return all, kinds
}

// otherWords returns how much of the evidence, in per cent, shares no word with its question but the
// speakers' names. In Chinese a pair of characters is a word.
func (o openTalk) otherWords() float64 {
	names := map[string]bool{}
	for _, u := range o.turns {
		for _, w := range split(u.speaker) {
			names[w.term] = true
		}
	}
	without, n := 0, 0
	for i, q := range o.asked {
		asks := map[string]bool{}
		for _, w := range split(q.text) {
			asks[w.term] = w.term != "" && !w.stop && !names[w.term] && (!w.han || len([]rune(w.text)) == 2)
		}
		for d, u := range o.turns {
			if o.right[i][idOf(d+1)] {
				n++
				if !slices.ContainsFunc(split(u.text), func(w word) bool { return asks[w.term] }) {
					without++
				}
			}
		}
	}
	return 100 * float64(without) / float64(n)
}

// TestUnseenTalks asks questions about talks from which no weight was learned. With -weights it also
// prints each talk's recall with the weights learned from all other talks, and from those in its own
// language.
func TestUnseenTalks(t *testing.T) {
	var open []openTalk
	turns := map[bool]int{}
	for _, two := range talks {
		o := two.open(t)
		open = append(open, o)
		turns[strings.Contains(two.file, "zh")] += len(o.turns)
		if two.least == 0 && !*showFriends {
			continue
		}
		all, kinds := o.recalled(t, nil)
		t.Logf("%s: %d turns, %d questions, within 5, 10 and 25: %v; %v; %.0f %% of the evidence is in other words", two.file, len(o.turns), len(o.asked), all, kinds, o.otherWords())
		if all[1] < two.least {
			t.Errorf("%s: %.1f %% within ten, want %v", two.file, all[1], two.least)
		}
	}
	if turns[false] < 600 || turns[true] < 600 {
		t.Errorf("%d English turns and %d Chinese ones, want 600 of each", turns[false], turns[true])
	}
	if *showFriends {
		leftOutTalks(t, open)
	}
}

// leftOutTalks prints what each talk has with the weights as shipped, with those set by hand, and
// with those that the other talks give.
func leftOutTalks(t *testing.T, open []openTalk) {
	hand := handWeights()
	examples := make([][]example, len(open))
	for n, o := range open {
		for i, q := range o.asked {
			examples[n] = append(examples[n], exampleOf(o.x, Query{Text: q.text, Now: o.now, K: 25}, o.right[i], &hand, q.kind))
		}
	}
	var sum [4]figures
	asked := 0
	for n, o := range open {
		var others, same []example
		for m, e := range examples {
			if m != n {
				others = append(others, e...)
				if strings.Contains(open[m].file, "zh") == strings.Contains(o.file, "zh") {
					same = append(same, e...)
				}
			}
		}
		fromAll, fromSame := learned(others), learned(same)
		var got [4]figures
		for i, w := range []*Weights{nil, &hand, &fromAll, &fromSame} {
			got[i], _ = o.recalled(t, w)
			for j := range got[i] {
				sum[i][j] += got[i][j] * float64(len(o.asked))
			}
		}
		asked += len(o.asked)
		fmt.Printf("%s: as shipped, by hand, learned from the other talks, from those in its language: %v\n", o.file, got)
	}
	for i := range sum {
		for j := range sum[i] {
			sum[i][j] /= float64(asked)
		}
	}
	fmt.Printf("all %d questions: %v\n", asked, sum)
}

// learned returns the weights that fitFriends gives. A signal that would count against a turn is
// switched off.
func learned(examples []example) Weights {
	w, fit := handWeights(), fitFriends(examples)
	for i, weight := range []*float64{&w.Session, &w.Heard, &w.Covered, &w.Several, &w.When, &w.Where, &w.Time, &w.Near} {
		*weight = max(0, *weight+fit[i+1]/fit[0])
	}
	return w
}
