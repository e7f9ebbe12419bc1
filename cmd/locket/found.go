package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
)

// found is how hits are shown.
type found struct {
	explain bool // every part of a score on a line of its own, in words
	past    bool // another time was asked about: when each thing was so
	minor   bool // with minor hits
}

// unsure heads what was found where recall can't tell whether it answers.
const unsure = "Not sure. The nearest is:"

func (a *app) showHits(w io.Writer, r *serve.SearchResult, how found) {
	hits := r.Hits
	if !how.minor {
		hits = slices.DeleteFunc(slices.Clone(hits), func(h serve.Hit) bool { return h.Minor })
	}
	left := len(r.Hits) - len(hits)
	if len(hits) == 0 {
		said := "Nothing is known about that."
		if left > 0 {
			said += a.paint.dim(fmt.Sprintf(" -n %d shows what is nearest.", left))
		}
		fmt.Fprintln(w, said)
		return
	}
	if r.Unquoted {
		fmt.Fprintln(w, "Nothing has that phrase word for word. Found by its words:")
	}
	if !r.Known {
		fmt.Fprintln(w, unsure)
	}
	if how.explain {
		a.understood(w, r)
	}
	for _, h := range hits {
		what, mark := "said", ""
		if h.Memory != nil {
			what, mark = string(h.Memory.Type), marks(h.Memory)
		}
		if h.Cold {
			h.Text = coldLine(h.Memory)
		}
		fmt.Fprintf(w, "%5.2f  %s  %-10s  %s%s\n", h.Score, a.paint.dim(shortID(h.ID)), what, a.paint.bold(oneLine(h.Text)), mark)
		if h.SharedBy != nil {
			fmt.Fprintf(w, "       %s\n", a.sharedBy(h.SharedBy))
		}
		if c := h.Chunk; c != nil {
			fmt.Fprintf(w, "       part %d of %d: %s\n", c.Number, c.Of, oneLine(strings.TrimSpace(c.Text)))
		}
		if e := a.evidence(h.Evidence); e != "" {
			fmt.Fprintf(w, "       %s\n", e)
		} else if h.Utterance != nil {
			fmt.Fprintf(w, "       %s\n", a.said(h.Utterance.Speaker, h.At, ""))
		}
		if !h.Until.IsZero() {
			fmt.Fprintf(w, "       no longer so: until %s\n", a.when(h.Until))
		}
		if m := h.Memory; m != nil && (how.past || m.State == memory.Superseded) {
			fmt.Fprintf(w, "       %s\n", a.held(m))
		}
		if how.explain {
			a.explain(w, h.Parts)
		}
	}
	if left > 0 {
		fmt.Fprintln(w, a.paint.dim(fmt.Sprintf("%s less to do with it; -n %d shows all.", plural(left, "more has", "more have"), len(r.Hits))))
	}
}

// shapes says in words what a question is after.
var shapes = map[string]string{
	"who": "asks who", "when": "asks when", "where": "asks where", "how_to": "asks how to do something", "how_many": "asks how many",
	"exact": "names the very words", "preference": "asks what somebody likes",
}

// understood prints how the question was read, and what had no part.
func (a *app) understood(w io.Writer, r *serve.SearchResult) {
	s := fmt.Sprintf("Confidence %.2f", r.Confidence)
	if what := shapes[r.Shape]; what != "" {
		s += "; the question " + what
	}
	fmt.Fprintln(w, s+".")
	for _, k := range r.Skipped {
		fmt.Fprintf(w, "Without %s: the model was %s.\n", k.Part, k.Reason)
	}
}

// explain prints the parts of a score, the greatest first.
func (a *app) explain(w io.Writer, parts map[string]float64) {
	about := map[string]string{}
	for _, p := range recall.Parts() {
		about[p.Name] = p.About
	}
	names := sorting.Sorted(maps.Keys(parts), func(x, y string) int {
		return cmp.Or(cmp.Compare(parts[y], parts[x]), strings.Compare(x, y))
	})
	for _, n := range names {
		fmt.Fprintf(w, "       %s\n", a.paint.dim(strings.TrimSpace(fmt.Sprintf("%+.2f  %-15s  %s", parts[n], n, about[n]))))
	}
}

// held says when a memory was so out in the world, and when it was believed.
func (a *app) held(m *memory.Memory) string {
	s := "so from " + a.when(m.Began())
	if m.TrueTo.IsZero() {
		s += " on"
	} else {
		s += " to " + a.when(m.TrueTo)
	}
	s += "; learnt " + a.when(m.Learnt)
	if !m.Unlearnt.IsZero() {
		s += ", given up " + a.when(m.Unlearnt)
	}
	return s
}
