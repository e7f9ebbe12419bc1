package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/locket-dev/locket/memory/recall"
)

// leftOutResult is the recall on conversations that had no part in a choice, compared with the
// recall with the weights that ship.
type leftOutResult struct {
	Suite         string       `json:"suite"`
	Case          string       `json:"case"`
	Conversations int          `json:"conversations"`
	Questions     int          `json:"questions"`
	Rows          []leftOutRow `json:"rows"`
}

// leftOutRow is the result of one way to choose. Recall is in per cent, by category and depth. Low
// and High are the bounds of 95 % of the bootstrap over conversations.
type leftOutRow struct {
	Name    string                        `json:"name"`
	Recall  map[string]map[string]float64 `json:"recall"`
	By      map[string]map[string]float64 `json:"by_conversation"`
	Low     map[string]float64            `json:"low"`
	High    map[string]float64            `json:"high"`
	Weights map[string]recall.Weights     `json:"weights,omitempty"` // by the conversation that was left out
}

// leftOutDepths are the depths in every row. Weights are chosen by the mean of recall at 5, 10
// (twice) and 25.
var leftOutDepths = []int{5, 10, 25}

// plainWeights are the plain sum of signals with which recall began: round weights, set by hand.
func plainWeights() recall.Weights {
	w := recall.DefaultWeights()
	w.Session, w.Heard, w.Covered, w.Several = 0, 0, 0, 0
	w.Speaker, w.Theirs, w.Question, w.Answer, w.String = .5, 0, .2, .2, .2
	w.Lexicon, w.Near, w.Time, w.When, w.Where, w.Entity, w.Length = .2, .05, .2, .1, 0, 0, .3
	return w
}

// knob is a weight that is chosen, among few values.
type knob struct {
	at     func(*recall.Weights) *float64
	values []float64
}

var knobs = []knob{
	{func(w *recall.Weights) *float64 { return &w.Speaker }, []float64{.2, .4, .6}},
	{func(w *recall.Weights) *float64 { return &w.Theirs }, []float64{0, .5, 1}},
	{func(w *recall.Weights) *float64 { return &w.Question }, []float64{.1, .2, .3, .4}},
	{func(w *recall.Weights) *float64 { return &w.Answer }, []float64{.1, .2, .3}},
	{func(w *recall.Weights) *float64 { return &w.String }, []float64{.1, .15, .2, .3}},
	{func(w *recall.Weights) *float64 { return &w.Lexicon }, []float64{0, .06, .12, .2}},
	{func(w *recall.Weights) *float64 { return &w.Near }, []float64{0, .04, .08, .3}},
	{func(w *recall.Weights) *float64 { return &w.Time }, []float64{.2, .4, .6, .8, 1.1}},
	{func(w *recall.Weights) *float64 { return &w.Heard }, []float64{0, .2}},
	{func(w *recall.Weights) *float64 { return &w.Several }, []float64{0, .5, .9}},
	{func(w *recall.Weights) *float64 { return &w.Length }, []float64{.15, .3, .45}},
}

// heard is a conversation in its own index.
type heard struct {
	*straight
	talk *conversation
}

// marked is the result of the questions of one conversation: by category, and as a sum, for each
// depth.
type marked struct {
	n   map[string]int
	sum map[string][]float64
}

// goal is the value that a choice maximises, 0 to 100.
func (m marked) goal() float64 {
	s := m.sum["all"]
	return 100 * (s[0] + 2*s[1] + s[2]) / 4 / float64(max(1, m.n["all"]))
}

// join adds the result of another conversation.
func (m *marked) join(o marked) {
	if m.n == nil {
		m.n, m.sum = map[string]int{}, map[string][]float64{}
	}
	for c, s := range o.sum {
		if m.sum[c] == nil {
			m.sum[c] = make([]float64, len(s))
		}
		m.n[c] += o.n[c]
		for i, v := range s {
			m.sum[c][i] += v
		}
	}
}

func (h *heard) mark(ctx context.Context, w recall.Weights) (marked, error) {
	m := marked{map[string]int{}, map[string][]float64{"all": make([]float64, len(leftOutDepths))}}
	e := *h.straight
	e.weights = &w
	for _, q := range h.talk.Asked {
		if len(q.Evidence) == 0 {
			continue
		}
		got, err := e.Ask(ctx, q.Question, nil, leftOutDepths[len(leftOutDepths)-1])
		if err != nil {
			return m, fmt.Errorf("ask %s: %w", h.talk.Name, err)
		}
		for _, c := range []string{"all", categories[q.Category]} {
			if m.sum[c] == nil {
				m.sum[c] = make([]float64, len(leftOutDepths))
			}
			m.n[c]++
			for i, k := range leftOutDepths {
				m.sum[c][i] += evidenceRecall(got, q.Evidence, k)
			}
		}
	}
	return m, nil
}

// leaveOneOut measures each conversation with what was chosen on the others.
func leaveOneOut(ctx context.Context, conversations []conversation) (*leftOutResult, error) {
	if len(conversations) < 2 {
		return nil, errors.New("to leave one conversation out, two are needed")
	}
	r := &leftOutResult{Suite: "locomo", Case: "leave_one_out", Conversations: len(conversations)}
	var lives []*heard
	for i := range conversations {
		h := &heard{newStraight(nil), &conversations[i]}
		if err := h.Feed(ctx, h.talk); err != nil {
			return nil, fmt.Errorf("feed %s: %w", h.talk.Name, err)
		}
		defer h.Close()
		lives = append(lives, h)
	}
	carried, err := carriedOver(ctx, lives)
	if err != nil {
		return nil, err
	}
	shipped, bare := recall.DefaultWeights(), recall.DefaultWeights()
	bare.Lexicon, bare.Near = 0, 0
	for _, way := range []struct {
		name   string
		choose func(left int) (recall.Weights, error)
	}{
		{"plain sum", func(int) (recall.Weights, error) { return plainWeights(), nil }},
		{"as shipped", func(int) (recall.Weights, error) { return shipped, nil }},
		{"weights chosen on the others", func(left int) (recall.Weights, error) { return ascend(ctx, allBut(lives, left), plainWeights()) }},
		{"as shipped, lexicon lines that earn on the others", func(left int) (recall.Weights, error) {
			w := shipped
			w.Without = carried[left]
			return w, nil
		}},
		{"as shipped, no lexicon", func(int) (recall.Weights, error) { return bare, nil }},
	} {
		row := leftOutRow{Name: way.name, By: map[string]map[string]float64{}, Weights: map[string]recall.Weights{}}
		var marks []marked
		for i, h := range lives {
			w, err := way.choose(i)
			if err != nil {
				return nil, err
			}
			m, err := h.mark(ctx, w)
			if err != nil {
				return nil, err
			}
			marks = append(marks, m)
			row.By[h.talk.Name] = perCent(m.sum["all"], m.n["all"])
			row.Weights[h.talk.Name] = w
		}
		row.fold(marks)
		r.Rows = append(r.Rows, row)
	}
	for _, h := range lives {
		for _, q := range h.talk.Asked {
			if len(q.Evidence) > 0 {
				r.Questions++
			}
		}
	}
	return r, nil
}

func allBut(lives []*heard, left int) []*heard {
	return slices.Delete(slices.Clone(lives), left, left+1)
}

// goalOf returns the mean goal of conversations, with equal weight.
func goalOf(ctx context.Context, lives []*heard, w recall.Weights) (float64, error) {
	sum := 0.0
	for _, h := range lives {
		m, err := h.mark(ctx, w)
		if err != nil {
			return 0, err
		}
		sum += m.goal() / float64(len(lives))
	}
	return sum, nil
}

// leastGain is how much a value must gain to be chosen: less may be the luck of one question.
const leastGain = .1

// ascend chooses one weight after the other until none changes, in at most three rounds.
func ascend(ctx context.Context, lives []*heard, w recall.Weights) (recall.Weights, error) {
	best, err := goalOf(ctx, lives, w)
	for moved, round := true, 0; moved && round < 3 && err == nil; round++ {
		moved = false
		for _, k := range knobs {
			now := *k.at(&w)
			chosen := now
			for _, v := range k.values {
				if v == now {
					continue
				}
				*k.at(&w) = v
				g, e := goalOf(ctx, lives, w)
				if err = e; err != nil {
					return w, err
				}
				if g > best+leastGain {
					best, chosen, moved = g, v, true
				}
			}
			*k.at(&w) = chosen
		}
	}
	return w, err
}

// carriedOver returns, for each conversation, the lines of the lexicon that gain nothing on the
// other conversations. The rest of the lexicon was not chosen for that conversation.
func carriedOver(ctx context.Context, lives []*heard) ([]map[int]bool, error) {
	w := recall.DefaultWeights()
	full := make([]float64, len(lives))
	for i, h := range lives {
		m, err := h.mark(ctx, w)
		if err != nil {
			return nil, err
		}
		full[i] = m.goal()
	}
	out := make([]map[int]bool, len(lives))
	for i := range out {
		out[i] = map[int]bool{}
	}
	for n := range recall.LexiconHeadwords() {
		w.Without = map[int]bool{n: true}
		gain := make([]float64, len(lives))
		all := 0.0
		for i, h := range lives {
			m, err := h.mark(ctx, w)
			if err != nil {
				return nil, err
			}
			gain[i] = full[i] - m.goal()
			all += gain[i]
		}
		for i := range lives {
			if all-gain[i] < 1e-6 {
				out[i][n] = true
			}
		}
	}
	return out, nil
}

// fold makes a row of what its conversations got.
func (row *leftOutRow) fold(marks []marked) {
	var all marked
	for _, m := range marks {
		all.join(m)
	}
	row.Recall = map[string]map[string]float64{}
	for c, s := range all.sum {
		row.Recall[c] = perCent(s, all.n[c])
	}
	row.Low, row.High = bootstrap(marks)
}

// bootstraps is how many times conversations are resampled.
const bootstraps = 10_000

// bootstrap returns the 2.5th and the 97.5th percentile of recall over sets of conversations that
// are drawn with replacement.
func bootstrap(marks []marked) (low, high map[string]float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	low, high = map[string]float64{}, map[string]float64{}
	means := make([][]float64, len(leftOutDepths))
	for range bootstraps {
		sum, n := make([]float64, len(leftOutDepths)), 0
		for range marks {
			m := marks[rng.IntN(len(marks))]
			n += m.n["all"]
			for i, v := range m.sum["all"] {
				sum[i] += v
			}
		}
		for i, v := range sum {
			means[i] = append(means[i], 100*v/float64(max(1, n)))
		}
	}
	for i, k := range leftOutDepths {
		slices.Sort(means[i])
		low[strconv.Itoa(k)], high[strconv.Itoa(k)] = round(means[i][bootstraps/40]), round(means[i][bootstraps-1-bootstraps/40])
	}
	return low, high
}

func perCent(sum []float64, n int) map[string]float64 {
	out := map[string]float64{}
	for i, k := range leftOutDepths {
		out[strconv.Itoa(k)] = round(100 * sum[i] / float64(max(1, n)))
	}
	return out
}

func (r *leftOutResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "left out, one of %d at a time\t@5\t@10\t@25\t95 %% @10\tmulti-hop @10\topen @10\t\n", r.Conversations)
	for _, row := range r.Rows {
		a := row.Recall["all"]
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.1f\t%.1f to %.1f\t%.1f\t%.1f\t\n", row.Name, a["5"], a["10"], a["25"], row.Low["10"], row.High["10"],
			row.Recall["multi_hop"]["10"], row.Recall["open_domain"]["10"])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Rows[0].By)) {
		var at []string
		for _, row := range r.Rows {
			at = append(at, fmt.Sprintf("%.1f", row.By[name]["10"]))
		}
		fmt.Fprintf(w, "%s @10: %s\n", name, strings.Join(at, ", "))
	}
	_, err := fmt.Fprintf(w, "%d questions; turns alone, without a node\n", r.Questions)
	return err
}
