package cli

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

// HitStyle says how hits are shown.
type HitStyle struct {
	Explain bool // show every part of a score on its own line, in words
	Past    bool // the question is about another time: show when each thing was true
	Minor   bool // show minor hits, too
}

// Unsure is the heading of hits if recall can't tell whether they answer the question.
const Unsure = "Not sure. The nearest is:"

func (a *App) ShowHits(w io.Writer, r *serve.SearchResult, how HitStyle) {
	hits := r.Hits
	if !how.Minor {
		hits = slices.DeleteFunc(slices.Clone(hits), func(h serve.Hit) bool { return h.Minor })
	}
	left := len(r.Hits) - len(hits)
	if len(hits) == 0 {
		said := "Nothing is known about that."
		if left > 0 {
			said += a.Paint.Dim(fmt.Sprintf(" -n %d shows what is nearest.", left))
		}
		fmt.Fprintln(w, said)
		return
	}
	if r.Unquoted {
		fmt.Fprintln(w, "Nothing has that phrase word for word. Found by its words:")
	}
	if !r.Known {
		fmt.Fprintln(w, Unsure)
	}
	if how.Explain {
		a.understood(w, r)
	}
	for _, h := range hits {
		what, mark := "said", ""
		if h.Memory != nil {
			what, mark = string(h.Memory.Type), MemoryMarks(h.Memory)
		}
		if h.Cold {
			h.Text = coldLine(h.Memory)
		}
		fmt.Fprintf(w, "%5.2f  %s  %-10s  %s%s\n", h.Score, a.Paint.Dim(ShortID(h.ID)), what, a.Paint.Bold(Listed(h.Text)), mark)
		if h.SharedBy != nil {
			fmt.Fprintf(w, "       %s\n", a.SharedBy(h.SharedBy))
		}
		if c := h.Chunk; c != nil {
			fmt.Fprintf(w, "       part %d of %d: %s\n", c.Number, c.Of, OneLine(strings.TrimSpace(c.Text)))
		}
		if e := a.Evidence(h.Evidence); e != "" {
			fmt.Fprintf(w, "       %s\n", e)
		} else if h.Utterance != nil {
			fmt.Fprintf(w, "       %s\n", a.QuoteLine(h.Utterance.Speaker, h.At, ""))
		}
		if !h.Until.IsZero() {
			fmt.Fprintf(w, "       no longer so: until %s\n", a.ShowTime(h.Until))
		}
		if m := h.Memory; m != nil && (how.Past || m.State == memory.Superseded) {
			fmt.Fprintf(w, "       %s\n", a.validityText(m))
		}
		if how.Explain {
			a.explain(w, h.Parts)
		}
	}
	if left > 0 {
		fmt.Fprintln(w, a.Paint.Dim(fmt.Sprintf("%s less to do with it. -n %d shows all.", Plural(left, "more has", "more have"), len(r.Hits))))
	}
}

// shapes says in words what a question asks for.
var shapes = map[string]string{
	"who": "asks who", "when": "asks when", "where": "asks where", "how_to": "asks how to do something", "how_many": "asks how many",
	"exact": "quotes exact words", "preference": "asks about likes and dislikes",
}

// understood prints how the question was understood, and which parts of the search were skipped.
func (a *App) understood(w io.Writer, r *serve.SearchResult) {
	s := fmt.Sprintf("Confidence %.2f", r.Confidence)
	if what := shapes[r.Shape]; what != "" {
		s += "; the question " + what
	}
	fmt.Fprintln(w, s+".")
	for _, k := range r.Skipped {
		fmt.Fprintf(w, "Without %s: the model was %s.\n", k.Part, k.Reason)
	}
}

// explain prints the parts of a score, the largest first.
func (a *App) explain(w io.Writer, parts map[string]float64) {
	about := map[string]string{}
	for _, p := range recall.Parts() {
		about[p.Name] = p.About
	}
	names := sorting.Sorted(maps.Keys(parts), func(x, y string) int {
		return cmp.Or(cmp.Compare(parts[y], parts[x]), strings.Compare(x, y))
	})
	for _, n := range names {
		fmt.Fprintf(w, "       %s\n", a.Paint.Dim(strings.TrimSpace(fmt.Sprintf("%+.2f  %-15s  %s", parts[n], n, about[n]))))
	}
}

// validityText says when a memory was true in the world, and when the node believed it.
func (a *App) validityText(m *memory.Memory) string {
	s := "so from " + a.ShowTime(m.Began())
	if m.TrueTo.IsZero() {
		s += " on"
	} else {
		s += " to " + a.ShowTime(m.TrueTo)
	}
	s += "; learnt " + a.ShowTime(m.Learnt)
	if !m.Unlearnt.IsZero() {
		s += ", given up " + a.ShowTime(m.Unlearnt)
	}
	return s
}
