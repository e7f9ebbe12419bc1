package recall

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var showFriends = flag.Bool("weights", false, "print the weights that TestFittedWeights finds")

// friendsTurn is a turn of testdata/friends-*.txt, and friendsAsked is a question; its evidence are
// labels.
type friendsTurn struct {
	label, session, speaker, text string
	at                            time.Time
}

type friendsAsked struct {
	kind, text string
	evidence   []string
}

func readFriends(t *testing.T, path string) (turns []friendsTurn, asked []friendsAsked) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var at time.Time
	session := ""
	labels := map[string]bool{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		line := s.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			var day, hour string
			if _, err := fmt.Sscanf(line, "= %s %s %s", &session, &day, &hour); err != nil {
				t.Fatalf("%s: %q: %v", path, line, err)
			}
			if at, err = time.Parse("2006-01-02 15:04", day+" "+hour); err != nil {
				t.Fatal(err)
			}
		case line[0] == '?':
			kind, rest, _ := strings.Cut(line[1:], " ")
			text, evidence, _ := strings.Cut(rest, " | ")
			asked = append(asked, friendsAsked{kind, text, strings.Fields(evidence)})
		default:
			who, said, ok := strings.Cut(line, ": ")
			name, label, _ := strings.Cut(strings.TrimSuffix(who, "]"), " [")
			label = cmp.Or(label, fmt.Sprint("turn ", len(turns)))
			if !ok || labels[label] {
				t.Fatalf("%s: %q", path, line)
			}
			labels[label] = true
			turns = append(turns, friendsTurn{label, session, name, strings.NewReplacer(" [a photo", " a photo", " [照片", " 照片", "]", "").Replace(said), at})
			at = at.Add(10 * time.Second)
		}
	}
	for _, q := range asked {
		if !slices.Contains([]string{"single", "multi", "time", "open", "other"}, q.kind) || len(q.evidence) == 0 {
			t.Fatalf("%s: %q: kind %q, evidence %v", path, q.text, q.kind, q.evidence)
		}
		for _, e := range q.evidence {
			if !labels[e] {
				t.Fatalf("%s: %q: no turn %s", path, q.text, e)
			}
		}
	}
	return turns, asked
}

// evidenceOf returns the documents that are the evidence of a question; see friends for their ids.
func evidenceOf(turns []friendsTurn, q friendsAsked) map[memory.ID]bool {
	right := map[memory.ID]bool{}
	for i, u := range turns {
		if slices.Contains(q.evidence, u.label) {
			right[idOf(i+1)] = true
		}
	}
	return right
}

// friends indexes the talk of two friends, mixed with the other talk as if the same two had said
// it: more turns among which a question has to find its answer.
func friends(t *testing.T, turns, others []friendsTurn, names *strings.Replacer) (*Index, time.Time) {
	x := openOn(t, newSegments(), Options{})
	for i, o := range [][]friendsTurn{turns, others} {
		for n, u := range o {
			d := Doc{ID: idOf(i*10_000 + n + 1), Kind: Utterance, Session: u.session, At: u.at, Order: uint64(n), Speaker: u.speaker, Text: u.text}
			if i == 1 {
				d.Session, d.Speaker, d.Text = "other "+u.session, names.Replace(u.speaker), names.Replace(u.text)
			}
			if err := x.Add(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	return x, slices.MaxFunc(slices.Concat(turns, others), func(a, b friendsTurn) int { return a.at.Compare(b.at) }).at.Add(24 * time.Hour)
}

// handWeights are the weights that TestFittedWeights begins with. They were chosen by hand before there
// were weights for the session and for covered words.
func handWeights() Weights {
	w := DefaultWeights()
	w.Session, w.Heard, w.Covered, w.Several, w.When, w.Where, w.Time, w.Near = 0, 0, 0, 0, .1, .1, .6, .04
	return w
}

// signalsOf are the signals that TestFittedWeights weighs: first the sum of the signals with handWeights,
// then those that get more or less weight than there.
var signalsOf = []string{"sum", "Session", "Heard", "Covered", "Several", "When", "Where", "Time", "Near"}

func (c *candidate) weighed(r *ranking) []float64 {
	several, when, where := 0.0, 0.0, 0.0
	if r.ask.several {
		several = -float64(c.raw[sigMatch])
	}
	if r.ask.shape == When && r.docs[c.doc].flags&flagTime != 0 {
		when = 1
	}
	if r.ask.shape == Where && r.docs[c.doc].flags&flagPlace != 0 {
		where = 1
	}
	return []float64{c.total, float64(c.alone), float64(c.heard), float64(c.covered), several, when, where, float64(c.raw[sigTime]), float64(c.near)}
}

// example is a question with its nearest candidates and its evidence.
type example struct {
	x      [][]float64
	right  []bool
	weight float64
}

// TestFittedWeights asks questions about two talks that we wrote. With -weights it prints the weights
// that a logistic model gives the signals there; DefaultWeights are these, rounded.
func TestFittedWeights(t *testing.T) {
	one, askedOne := readFriends(t, "testdata/friends-1.txt")
	two, askedTwo := readFriends(t, "testdata/friends-2.txt")
	var examples []example
	found, before, n := 0.0, 0.0, 0
	for _, side := range []struct {
		turns, others []friendsTurn
		asked         []friendsAsked
		names         *strings.Replacer
	}{
		{one, two, askedOne, strings.NewReplacer("Greta", "Nora", "Malik", "Theo")},
		{two, one, askedTwo, strings.NewReplacer("Nora", "Greta", "Theo", "Malik")},
	} {
		x, now := friends(t, side.turns, side.others, side.names)
		hand := handWeights()
		for _, q := range side.asked {
			right := evidenceOf(side.turns, q)
			recalled := func(w *Weights) float64 {
				hits := 0
				for _, h := range find(t, x, Query{Text: q.text, Now: now, K: 10, Weights: w}).Hits {
					if right[h.ID] {
						hits++
					}
				}
				return float64(hits) / float64(len(right))
			}
			found += recalled(nil)
			before += recalled(&hand)
			n++
			if *showFriends {
				examples = append(examples, exampleOf(x, Query{Text: q.text, Now: now, K: 25}, right, &hand, q.kind))
			}
		}
	}
	t.Logf("%d questions, evidence within ten: %.1f %%, with the weights set by hand %.1f %%", n, 100*found/float64(n), 100*before/float64(n))
	if 100*found/float64(n) < 76 || found < before {
		t.Errorf("evidence within ten: %.1f %%, with the weights set by hand %.1f %%", 100*found/float64(n), 100*before/float64(n))
	}
	if *showFriends {
		w := fitFriends(examples)
		for i, name := range signalsOf[1:] {
			fmt.Printf("%s %+.2f\n", name, w[i+1]/w[0])
		}
	}
}

// exampleOf returns the sixty best candidates of a question, and its evidence. In LoCoMo, a fourth
// of the questions ask for what the other person said. Here fewer do, so each of those counts
// twice.
func exampleOf(x *Index, q Query, right map[memory.ID]bool, w *Weights, kind string) example {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	s.fit(len(x.core.docs), len(x.core.lists))
	r := ranking{core: x.core, q: &q, w: w, s: s}
	r.ask = r.understand(q, s, w)
	r.mean = max(1, float64(r.words)/float64(r.counted))
	r.scan()
	r.rank(r.pool(poolBase + poolPerK*q.K))
	slices.SortFunc(s.list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.total, a.total), r.tie(a.doc, b.doc)) })
	e := example{weight: 1}
	if kind == "other" {
		e.weight = 2
	}
	for i := range s.list {
		c := &s.list[i]
		if is := right[r.docs[c.doc].id]; i < 60 || is {
			e.x = append(e.x, c.weighed(&r))
			e.right = append(e.right, is)
		}
	}
	r.clear()
	return e
}

// fitFriends returns weights under which the evidence of each question is likely to come before
// other candidates. It uses gradient descent (Adam; Kingma and Ba, 2014) with a small penalty for
// large weights.
func fitFriends(examples []example) []float64 {
	const rounds, rate, penalty = 400, .03, .05
	k := len(signalsOf)
	scale := make([]float64, k)
	mean := make([]float64, k)
	rows := 0.0
	for _, e := range examples {
		for _, x := range e.x {
			rows++
			for i, v := range x {
				mean[i] += v
				scale[i] += v * v
			}
		}
	}
	for i := range scale {
		mean[i] /= rows
		scale[i] = math.Sqrt(scale[i]/rows-mean[i]*mean[i]) + 1e-9
	}
	w, m, v := make([]float64, k), make([]float64, k), make([]float64, k)
	for round := 1; round <= rounds; round++ {
		grad := make([]float64, k)
		all := 0.0
		for _, e := range examples {
			all += e.weight
			score := make([]float64, len(e.x))
			wrong, rights := 0.0, 0.0
			for n, x := range e.x {
				for i := range x {
					score[n] += w[i] * x[i] / scale[i]
				}
				score[n] = math.Exp(score[n])
				if e.right[n] {
					rights++
				} else {
					wrong += score[n]
				}
			}
			for n := range e.x {
				if !e.right[n] {
					continue
				}
				// Softmax of the score of this evidence among the scores of all candidates that are
				// not evidence.
				share := e.weight / rights / (wrong + score[n])
				for o, x := range e.x {
					g := 0.0
					if o == n {
						g = -wrong * share
					} else if !e.right[o] {
						g = score[o] * share
					}
					for i := range x {
						grad[i] += g * x[i] / scale[i]
					}
				}
			}
		}
		for i := range w {
			g := grad[i]/all + penalty*w[i]
			m[i], v[i] = .9*m[i]+.1*g, .999*v[i]+.001*g*g
			w[i] -= rate * (m[i] / (1 - math.Pow(.9, float64(round)))) / (math.Sqrt(v[i]/(1-math.Pow(.999, float64(round)))) + 1e-8)
		}
	}
	for i := range w {
		w[i] /= scale[i]
	}
	return w
}
