package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
)

func runExtract(ctx context.Context, f *frame) error {
	explain := f.Bool("explain", false, "print each line with what was made of it; not to be tuned on")
	scenes := f.Int("scenes", 0, "how many scenes, from the first; 0: all")
	set := f.String("set", "talk", "which labelled lines: talk, or asr, as a recogniser writes them")
	locomo := f.String("locomo", "", "in place of labelled lines, the turns of LoCoMo's `file` that hold evidence, each conversation by itself")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || f.NArg() > 0 || *scenes < 0 || *set != "talk" && *set != "asr" {
		return f.usage("takes flags only, --scenes a number from 0, and --set talk or asr")
	}
	if *locomo != "" {
		conversations, err := readLocomo(*locomo)
		if err != nil {
			return err
		}
		var results []result
		if err := withCache(*cache, func(dir string) (err error) {
			results, err = turnsOf(ctx, dir, conversations)
			return err
		}); err != nil {
			return err
		}
		return f.print(results, nil)
	}
	of := labelled.Extract
	if *set == "asr" {
		of = labelled.ASR
	}
	lines, err := of()
	if err != nil {
		return err
	}
	lines = firstScenes(lines, *scenes)
	var rated []ratedLine
	var cost result
	begin := time.Now()
	if err := withCache(*cache, func(dir string) (err error) {
		if rated, err = extractLines(ctx, dir, lines); err == nil && !*explain {
			cost, err = lineCost(ctx, dir, lines)
		}
		return err
	}); err != nil {
		return err
	}
	if *explain {
		return explainLines(f.stdout, rated)
	}
	results := extractResults(rated)
	results = append(results, byLength(rated)...)
	results = append(results, cost, result{Suite: "extract", Case: "took", N: len(lines), Value: round(time.Since(begin).Seconds()), Unit: "s"})
	return f.print(results, nil)
}

// firstScenes cuts lines after n scenes; 0 is all.
func firstScenes(lines []labelled.Line, n int) []labelled.Line {
	seen := map[string]bool{}
	for i, l := range lines {
		if seen[l.Scene] = true; n > 0 && len(seen) > n {
			return lines[:i]
		}
	}
	return lines
}

// ratedLine is a line, the memories made from it, and how they are counted.
type ratedLine struct {
	labelled.Score
	made []memory.Memory
}

// extractLines publishes the lines over MQTT to one node, with their own times, and rates what it
// keeps.
func extractLines(ctx context.Context, cache string, lines []labelled.Line) (rated []ratedLine, err error) {
	l, err := newLife(ctx, cache, labelled.Wearer)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := l.Close(); err == nil {
			err = e
		}
	}()
	byEvent, err := hearLines(ctx, l, lines)
	if err != nil {
		return nil, err
	}
	return rateLines(ctx, l, lines, byEvent)
}

// hearLines publishes lines to a node, and returns the place of each by its event.
func hearLines(ctx context.Context, l *life, lines []labelled.Line) (map[memory.EventID]int, error) {
	events := make([]day.Event, len(lines))
	byEvent := map[memory.EventID]int{}
	for i, line := range lines {
		events[i] = said("talk", i+1, memory.Event{At: line.At, Zone: line.Zone, Text: line.Text, Speaker: line.Speaker})
		byEvent[events[i].ID] = i
	}
	return byEvent, l.happen(ctx, "talk", events)
}

// rateLines rates what a node has kept of lines.
func rateLines(ctx context.Context, l *life, lines []labelled.Line, byEvent map[memory.EventID]int) (rated []ratedLine, err error) {
	all, err := l.memories(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b memory.Memory) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	made := make([][]memory.Memory, len(lines))
	for _, m := range all {
		cited := map[int]bool{}
		for _, ev := range m.Evidence {
			if i, ok := byEvent[ev.Event]; ok && !cited[i] {
				cited[i] = true
				made[i] = append(made[i], m)
			}
		}
		if len(cited) == 0 {
			return nil, fmt.Errorf("memory %s (%q) cites no line", m.ID, m.Text)
		}
	}
	for i := range lines {
		var earlier []memory.Memory
		for j := i - 1; j >= 0 && lines[j].Scene == lines[i].Scene; j-- {
			earlier = append(earlier, made[j]...)
		}
		s, err := labelled.Rate(&lines[i], made[i], earlier)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lines[i].ID, err)
		}
		rated = append(rated, ratedLine{s, made[i]})
	}
	return rated, nil
}

// count is of labels and of memories.
type count struct{ found, labels, right, made int }

func (c count) recall() float64    { return share(c.found, c.labels) }
func (c count) precision() float64 { return share(c.right, c.made) }
func (c count) f1() float64 {
	if c.found == 0 || c.right == 0 {
		return 0
	}
	return round(2 * c.recall() * c.precision() / (c.recall() + c.precision()))
}

// share in per cent; 0 of nothing is 0.
func share(n, of int) float64 { return round(100 * float64(n) / float64(max(1, of))) }

// extractResults counts according to the README's rules.
func extractResults(rated []ratedLine) []result {
	all, langs, kinds, types := &count{}, map[string]*count{}, map[labelled.Kind]*count{}, map[memory.Type]*count{}
	faults := map[labelled.Fault]int{}
	duplicates, empty, broken, kept := 0, 0, 0, 0
	for _, r := range rated {
		lang := at(langs, r.Line.Lang)
		for j, e := range r.Line.Expect {
			if e.Optional {
				continue
			}
			into := []*count{all, lang}
			for _, k := range e.Kinds {
				into = append(into, at(kinds, k))
			}
			for _, c := range into {
				c.labels++
				if r.Found[j] >= 0 {
					c.found++
				}
			}
			if r.Found[j] < 0 {
				faults[r.Near[j]]++
			}
		}
		for i, v := range r.Verdicts {
			if v == labelled.Uncounted {
				continue
			}
			for _, c := range []*count{all, lang, at(types, r.made[i].Type)} {
				c.made++
				if v == labelled.Right {
					c.right++
				}
			}
			if v == labelled.Duplicate {
				duplicates++
			}
		}
		if r.Line.None != "" && !r.Line.Either {
			empty++
			if len(r.made) > 0 {
				broken++
			}
		}
		if len(r.made) > 0 {
			kept++
		}
	}
	var out []result
	add := func(name string, n int, value float64, unit string) {
		out = append(out, result{Suite: "extract", Case: name, N: n, Value: value, Unit: unit})
	}
	three := func(suffix string, c *count) {
		add("precision"+suffix, c.made, c.precision(), "%")
		add("recall"+suffix, c.labels, c.recall(), "%")
		add("f1"+suffix, c.labels, c.f1(), "%")
	}
	three("", all)
	for _, l := range []string{"en", "zh", "mixed"} {
		if c := langs[l]; c != nil {
			three("_"+l, c)
		}
	}
	for _, k := range labelled.Kinds {
		if c := kinds[k]; c != nil {
			add("recall_"+string(k), c.labels, c.recall(), "%")
		}
	}
	for _, t := range memory.Types {
		if c := types[t]; c != nil {
			add("precision_"+string(t), c.made, c.precision(), "%")
		}
	}
	add("false_on_empty_lines", empty, share(broken, empty), "%")
	add("duplicates", all.made, float64(duplicates), "memories")
	add("kept_lines", len(rated), share(kept, len(rated)), "%")
	for _, f := range []labelled.Fault{labelled.NothingMade, labelled.Leaks, labelled.BadType, labelled.BadAbout, labelled.BadTerms, labelled.BadDate} {
		add("missed_by_"+string(f), all.labels-all.found, float64(faults[f]), "labels")
	}
	return out
}

func at[K comparable, V any](m map[K]*V, k K) *V {
	if m[k] == nil {
		m[k] = new(V)
	}
	return m[k]
}

func explainLines(w io.Writer, rated []ratedLine) error {
	for _, r := range rated {
		fmt.Fprintf(w, "%s %s: %s\n", r.Line.ID, r.Line.Speaker, r.Line.Text)
		for j, e := range r.Line.Expect {
			b, err := json.Marshal(e)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "  wanted %s: %s\n", b, map[bool]string{true: "found", false: "missed by " + string(r.Near[j])}[r.Found[j] >= 0])
		}
		for i, m := range r.made {
			fmt.Fprintf(w, "  %s: %s %q\n", r.Verdicts[i], m.Type, m.Text)
		}
	}
	return nil
}
