package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory/recall"
)

// foundWithin is the depth at which a question counts as found.
const foundWithin = 10

// sureness is the confidence of the index in its answers to four kinds of questions: those whose
// evidence it found; those whose evidence it missed; those of another conversation, with the names
// of this one; and those of this conversation that nothing answers, because they are asked about
// the person of whom it was not said.
type sureness struct{ found, missed, strange, unanswerable []float64 }

// locomoUnknown asks each conversation its own questions, and those of the others that have an
// answer, and prints how often the answer is "I don't know". It uses the threshold that ships and,
// for each conversation, the threshold at which 5 % of what the other conversations found is
// refused.
func locomoUnknown(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	each := make([]sureness, len(conversations))
	for i := range conversations {
		var err error
		if each[i], err = surenessOf(ctx, conversations, i); err != nil {
			return err
		}
	}
	var whole, left [4]tallied
	for i := range each {
		var others []float64
		for j := range each {
			if j != i {
				others = append(others, each[j].found...)
			}
		}
		threshold := recall.Unsure
		if len(others) > 0 {
			threshold = percentile(others, 5)
		}
		for k, list := range [...][]float64{each[i].found, each[i].missed, each[i].strange, each[i].unanswerable} {
			whole[k].count(list, recall.Unsure)
			left[k].count(list, threshold)
		}
	}
	for k, name := range [...]string{"found", "missed", "of_another_life", "of_its_own_without_answer"} {
		if asJSON {
			if err := json.NewEncoder(w).Encode(map[string]any{"suite": "locomo", "case": "unknown", "questions": name, "of": whole[k].n,
				"refused_percent": whole[k].share(), "left_out_percent": left[k].share()}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-26s \"I don't know\" to %5.1f %% of %d at %.2f; %5.1f %% at the threshold of the other conversations\n",
			strings.ReplaceAll(name, "_", " "), whole[k].share(), whole[k].n, recall.Unsure, left[k].share())
	}
	return printReliability(w, each, asJSON)
}

// binEnds are the upper ends of the rows of the table of reliability.
var binEnds = []float64{.2, recall.Unsure, .5, .6, .7, .8, .9, 1}

// binned returns how many values lie in each row of the table. A value between two rows is in the
// upper one; 1 is in the last.
func binned(list []float64) []int {
	counts := make([]int, len(binEnds))
	for _, v := range list {
		row := slices.IndexFunc(binEnds, func(end float64) bool { return v < end })
		if row < 0 {
			row = len(binEnds) - 1
		}
		counts[row]++
	}
	return counts
}

// printReliability prints, for each range of confidence, how many questions of each kind have it,
// and which share of a conversation's own questions with an answer was found.
func printReliability(w io.Writer, each []sureness, asJSON bool) error {
	var all sureness
	for _, s := range each {
		all.found, all.missed = append(all.found, s.found...), append(all.missed, s.missed...)
		all.strange, all.unanswerable = append(all.strange, s.strange...), append(all.unanswerable, s.unanswerable...)
	}
	found, missed, strange, unanswerable := binned(all.found), binned(all.missed), binned(all.strange), binned(all.unanswerable)
	from := 0.0
	for i, to := range binEnds {
		share := round(100 * float64(found[i]) / float64(max(1, found[i]+missed[i])))
		if asJSON {
			if err := json.NewEncoder(w).Encode(map[string]any{"suite": "locomo", "case": "reliability", "from": from, "to": to, "found": found[i], "missed": missed[i],
				"of_another_life": strange[i], "of_its_own_without_answer": unanswerable[i], "found_percent": share}); err != nil {
				return err
			}
		} else {
			fmt.Fprintf(w, "confidence %.2f to %.2f: %3d found, %3d missed, %4d of another life, %3d of its own without answer; found are %5.1f %% of found and missed\n",
				from, to, found[i], missed[i], strange[i], unanswerable[i], share)
		}
		from = to
	}
	return nil
}

// tallied counts what lies below a threshold.
type tallied struct{ below, n int }

func (t *tallied) count(list []float64, threshold float64) {
	for _, v := range list {
		if v < threshold {
			t.below++
		}
		t.n++
	}
}

func (t *tallied) share() float64 { return round(100 * float64(t.below) / float64(max(1, t.n))) }

func surenessOf(ctx context.Context, conversations []conversation, own int) (s sureness, err error) {
	c := &conversations[own]
	e := newStraight(nil)
	if err := e.Feed(ctx, c); err != nil {
		return s, fmt.Errorf("feed %s: %w", c.Name, err)
	}
	defer e.Close()
	for i := range conversations {
		names := strings.NewReplacer()
		if i != own {
			names = renamed(&conversations[i], c)
		}
		for _, q := range conversations[i].Asked {
			adversarial := categories[q.Category] == "adversarial"
			if adversarial && i != own || !adversarial && len(q.Evidence) == 0 {
				continue
			}
			r, err := e.index.Search(ctx, recall.Query{Text: names.Replace(q.Question), Now: e.now, K: foundWithin, Holds: e.hasPhrase})
			if err != nil {
				return s, fmt.Errorf("ask %s: %w", c.Name, err)
			}
			switch {
			case adversarial:
				s.unanswerable = append(s.unanswerable, r.Confidence)
			case i != own:
				s.strange = append(s.strange, r.Confidence)
			case slices.ContainsFunc(r.Hits, func(h recall.Hit) bool { return slices.Contains(q.Evidence, e.turns[h.ID].ID) }):
				s.found = append(s.found, r.Confidence)
			default:
				s.missed = append(s.missed, r.Confidence)
			}
		}
	}
	return s, nil
}

// renamed replaces the speakers of one conversation by those of another.
func renamed(from, to *conversation) *strings.Replacer {
	speakers := func(c *conversation) (out []string) {
		for _, s := range c.Sessions {
			for _, t := range s.Turns {
				if !slices.Contains(out, t.Speaker) {
					out = append(out, t.Speaker)
				}
			}
		}
		return out
	}
	var pairs []string
	theirs := speakers(to)
	for i, name := range speakers(from) {
		pairs = append(pairs, name, theirs[i%len(theirs)])
	}
	return strings.NewReplacer(pairs...)
}
