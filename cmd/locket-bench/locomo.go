package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/retrieve"
)

// locomoResult is the suite's one line. Recall is in per cent: the mean over
// questions of the share of their evidence that the first k hits quote.
type locomoResult struct {
	Suite         string                        `json:"suite"`
	Conversations int                           `json:"conversations"`
	Questions     int                           `json:"questions"`
	Recall        map[string]map[string]float64 `json:"recall"`
	Utterances    map[string]float64            `json:"recall_utterances"`
	Memories      map[string]float64            `json:"recall_memories"`
	Kept          float64                       `json:"kept_percent"`
	Tokens        map[string]float64            `json:"tokens"`        // of text that k hits hold, mean
	Within        map[string]float64            `json:"recall_within"` // a context block of a number of tokens
	Words         map[string]float64            `json:"words_within"`  // of the answers' words, those in that block
	Latency       map[string]float64            `json:"latency_ms"`
	Answers       *answersResult                `json:"answers,omitempty"`
}

// budgets are the context blocks, in tokens, within which recall is measured.
var budgets = []int{500, 1000, 2000}

func runLocomo(ctx context.Context, f *frame) error {
	data := f.String("data", "", "LoCoMo's `FILE`, as snap-research/locomo has it")
	depths := f.String("k", "5,10,25,50", "how many hits to count")
	ablate := f.Bool("ablate", false, "measure again without each signal in turn")
	leaveOut := f.Bool("leave-one-out", false, "choose the weights on all conversations but one and measure on that one, for each")
	perturbed := f.Bool("perturb", false, "ask every question in other ways: in capitals, with a slip, in quotation marks …")
	unknown := f.Bool("unknown", false, "ask the questions of the other conversations, too, and print how often the answer is \"I don't know\"")
	shown := f.Bool("shown", false, "print how many of ten lines a person sees, and what of the evidence")
	beside := f.Bool("embedders", false, "measure with embedders that know only words, nothing, or the opposite")
	only := f.String("only", "", "measure on these `CONVERSATIONS`, with commas between")
	answers := f.Bool("answer", false, "have a language model answer, too, and print token F1")
	model := modelFlags(f.FlagSet)
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || *answers != (model.URL != "") || *answers && model.Model == "" {
		return f.usage("--answer goes with --llm URL and --model NAME")
	}
	if modes := howMany(*ablate, *leaveOut, *perturbed, *unknown, *shown, *beside, *answers); modes > 1 {
		return f.usage("--ablate, --leave-one-out, --perturb, --unknown, --shown, --embedders and --answer go one at a time")
	}
	ks, err := numbers(*depths)
	if *data == "" || err != nil || f.NArg() > 0 {
		return f.usage("--data FILE is needed, and --k takes numbers with commas between")
	}
	conversations, err := readLocomo(*data)
	if err != nil {
		return err
	}
	if conversations, err = pick(conversations, *only); err != nil {
		return err
	}
	if *leaveOut {
		r, err := leaveOneOut(ctx, conversations)
		if err != nil {
			return err
		}
		return r.print(f.stdout, *f.json)
	}
	if *perturbed {
		return locomoPerturbed(ctx, conversations, f.stdout, *f.json)
	}
	if *unknown {
		return locomoUnknown(ctx, conversations, f.stdout, *f.json)
	}
	if *shown {
		return locomoShown(ctx, conversations, f.stdout, *f.json)
	}
	if *beside {
		return locomoEmbedders(ctx, conversations, f.stdout, *f.json)
	}
	if *ablate {
		return locomoAblation(ctx, conversations, f.stdout, *f.json)
	}
	var r *locomoResult
	if err := withCache(*cache, func(dir string) (err error) {
		r, err = measureLocomo(ctx, conversations, ks, func() engine { return newLived(dir, model.LLM) })
		return err
	}); err != nil {
		return err
	}
	if *f.json {
		return json.NewEncoder(f.stdout).Encode(r)
	}
	return r.table(f.stdout, ks)
}

func numbers(s string) ([]int, error) {
	var out []int
	for _, p := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number above 0", p)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

func howMany(set ...bool) (n int) {
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}

// pick returns the named conversations, or all if no name is given.
func pick(from []conversation, names string) ([]conversation, error) {
	if names == "" {
		return from, nil
	}
	var out []conversation
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(from, func(c conversation) bool { return c.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("--only: the data has no conversation %q", name)
		}
		out = append(out, from[i])
	}
	return out, nil
}

// measureLocomo feeds each conversation to its own engine, and asks it the questions.
func measureLocomo(ctx context.Context, conversations []conversation, ks []int, fresh func() engine) (*locomoResult, error) {
	most := max(50, ks[len(ks)-1])
	r := &locomoResult{Suite: "locomo", Conversations: len(conversations), Recall: map[string]map[string]float64{}, Tokens: map[string]float64{}, Within: map[string]float64{}, Words: map[string]float64{}}
	all := newTally()
	utterances, memories := newTally(), newTally()
	marks := &marks{f1: newTally()}
	var took []float64
	asks, answered := 0, 0
	for i := range conversations {
		c := &conversations[i]
		e := fresh()
		if err := e.Feed(ctx, c); err != nil {
			return nil, fmt.Errorf("feed %s: %w", c.Name, err)
		}
		r.Kept += 100 * e.Kept() / float64(len(conversations))
		for _, q := range c.Asked {
			if len(q.Evidence) == 0 {
				continue
			}
			r.Questions++
			begin := time.Now()
			got, err := e.Ask(ctx, q.Question, nil, most)
			took = append(took, float64(time.Since(begin))/float64(time.Millisecond))
			if err != nil {
				return nil, fmt.Errorf("ask %s: %w", c.Name, err)
			}
			for _, k := range ks {
				all.add(categories[q.Category], k, evidenceRecall(got, q.Evidence, k))
				all.add("all", k, evidenceRecall(got, q.Evidence, k))
				sum := 0
				for _, a := range got[:min(k, len(got))] {
					sum += retrieve.Tokens(a.text)
				}
				r.Tokens[strconv.Itoa(k)] += float64(sum)
			}
			told := stems(q.Answer)
			if categories[q.Category] == "open_domain" { // its answers are judgements
				told = nil
			}
			for _, b := range budgets {
				held, text, err := e.Within(ctx, q.Question, b)
				if err != nil {
					return nil, fmt.Errorf("context of %s: %w", c.Name, err)
				}
				r.Within[strconv.Itoa(b)] += 100 * evidenceRecall(held, q.Evidence, len(held))
				if len(told) > 0 {
					r.Words[strconv.Itoa(b)] += 100 * shareOfWords(told, text)
				}
			}
			asks++
			if len(told) > 0 {
				answered++
			}
			for kind, t := range map[recall.Kind]*tally{recall.Utterance: utterances, recall.Memory: memories} {
				got, err := e.Ask(ctx, q.Question, []recall.Kind{kind}, most)
				if err != nil {
					return nil, fmt.Errorf("ask %s: %w", c.Name, err)
				}
				for _, k := range ks {
					t.add("all", k, evidenceRecall(got, q.Evidence, k))
				}
			}
		}
		if l, ok := e.(*lived); ok && l.model.URL != "" {
			if err := l.answers(ctx, c, marks); err != nil {
				return nil, fmt.Errorf("answer %s: %w", c.Name, err)
			}
		}
		if err := e.Close(); err != nil {
			return nil, fmt.Errorf("close %s: %w", c.Name, err)
		}
	}
	r.Recall = all.means()
	r.Answers = marks.result()
	r.Utterances, r.Memories = utterances.means()["all"], memories.means()["all"]
	for _, m := range []map[string]float64{r.Tokens, r.Within} {
		for k := range m {
			m[k] = round(m[k] / float64(max(1, asks)))
		}
	}
	for k := range r.Words {
		r.Words[k] = round(r.Words[k] / float64(max(1, answered)))
	}
	r.Kept = round(r.Kept)
	r.Latency = map[string]float64{"p50": percentile(took, 50), "p95": percentile(took, 95), "p99": percentile(took, 99)}
	return r, nil
}

// shareOfWords returns the share of an answer's words that a text contains.
func shareOfWords(told []string, text string) float64 {
	n := 0
	has := stems(text)
	for _, w := range told {
		if slices.Contains(has, w) {
			n++
		}
	}
	return float64(n) / float64(len(told))
}

// evidenceRecall returns the share of the evidence that is among the first k hits.
func evidenceRecall(got []answer, evidence []string, k int) float64 {
	found := map[string]bool{}
	for _, a := range got[:min(k, len(got))] {
		if slices.Contains(evidence, a.turn) {
			found[a.turn] = true
		}
	}
	return float64(len(found)) / float64(len(evidence))
}

// tally sums recall by category and depth.
type tally struct {
	sum map[string]map[string]float64
	n   map[string]map[string]int
}

func newTally() *tally {
	return &tally{map[string]map[string]float64{}, map[string]map[string]int{}}
}

func (t *tally) add(category string, k int, v float64) {
	if t.sum[category] == nil {
		t.sum[category], t.n[category] = map[string]float64{}, map[string]int{}
	}
	t.sum[category][strconv.Itoa(k)] += v
	t.n[category][strconv.Itoa(k)]++
}

func (t *tally) means() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for c, m := range t.sum {
		out[c] = map[string]float64{}
		for k, v := range m {
			out[c][k] = round(100 * v / float64(t.n[c][k]))
		}
	}
	return out
}

func round(v float64) float64 { return math.Round(v*100) / 100 }

// percentile returns a percentile of unsorted numbers, by nearest rank. p is from 1 to 100.
func percentile(v []float64, p float64) float64 {
	if p < 1 || p > 100 {
		panic(fmt.Sprintf("percentile %v: want 1 to 100", p)) // .99 is next to the least
	}
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	i := int(math.Ceil(p/100*float64(len(s)))) - 1
	return math.Round(s[max(0, i)]*1e4) / 1e4
}

func (r *locomoResult) table(w io.Writer, ks []int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, m map[string]float64, keys []string) {
		fmt.Fprintf(t, "%s\t", name)
		for _, k := range keys {
			fmt.Fprintf(t, "%.1f\t", m[k])
		}
		fmt.Fprintln(t)
	}
	var keys []string
	fmt.Fprintf(t, "evidence recall, %%\t")
	for _, k := range ks {
		keys = append(keys, strconv.Itoa(k))
		fmt.Fprintf(t, "@%d\t", k)
	}
	fmt.Fprintln(t)
	for _, c := range append([]string{"all"}, categories[1:]...) {
		row(c, r.Recall[c], keys)
	}
	row("utterances alone", r.Utterances, keys)
	row("memories alone", r.Memories, keys)
	row("tokens", r.Tokens, keys)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "within a context block of 500 tokens: %.1f, of 1,000: %.1f, of 2,000: %.1f\n", r.Within["500"], r.Within["1000"], r.Within["2000"])
	fmt.Fprintf(w, "of the answers' words: %.1f, %.1f, %.1f\n", r.Words["500"], r.Words["1000"], r.Words["2000"])
	if err := r.Answers.table(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d conversations, %d questions, %.1f %% of turns kept; p50 %.3f ms, p95 %.3f, p99 %.3f\n",
		r.Conversations, r.Questions, r.Kept, r.Latency["p50"], r.Latency["p95"], r.Latency["p99"])
	return err
}
