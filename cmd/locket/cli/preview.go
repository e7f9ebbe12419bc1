package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// showMarks says how the copies of a bundle will differ.
func showMarks(w io.Writer, m *serve.CopyMarks) {
	switch {
	case m == nil:
	case !m.Marked:
		fmt.Fprintf(w, "Not marked: copies could differ in only %s, and %d are needed to tell who passed one on.\n", Plural(m.Spots, "place", "places"), m.Least)
	case m.Robust:
		fmt.Fprintf(w, "Marked: each copy differs in %d places, so that you can tell who passed one on. --unmarked turns this off.\n", m.Spots)
	default:
		fmt.Fprintf(w, "Marked: each copy differs in %d places, so that you can tell who passed one on unchanged. --unmarked turns this off.\n", m.Spots)
	}
}

// shownBeyond is how many characters of a document a person is shown.
const shownBeyond = 400

// ShowBeyond shows what somebody else gets of a memory beside its text, indented.
func (a *App) ShowBeyond(w io.Writer, indent int, m *memory.Candidate) {
	a.ShowTexts(w, indent, m.Beyond())
	for _, e := range m.Evidence {
		if e.Excerpt != "" {
			fmt.Fprintf(w, "%*s%s\n", indent, "", a.Paint.Dim(a.QuoteLine(e.Speaker, e.At, e.Excerpt)))
		}
	}
}

// ShowTexts shows the beginnings of texts, indented.
func (a *App) ShowTexts(w io.Writer, indent int, texts []string) {
	for _, s := range texts {
		s = strings.TrimSpace(s)
		shown := OneLine(Short(s, shownBeyond))
		if left := utf8.RuneCountInString(s) - shownBeyond; left > 0 {
			shown += fmt.Sprintf(" and %s; --json shows them", Plural(left, "more character", "more characters"))
		}
		fmt.Fprintf(w, "%*s%s\n", indent, "", shown)
	}
}

func (a *App) ShowPreview(w io.Writer, p *serve.SharePreview) {
	for _, m := range p.Memories {
		fmt.Fprintf(w, "%-10s  %s\n", m.Type, OneLine(m.Text))
		a.ShowBeyond(w, 12, &m.Copy)
		if m.Was != "" {
			fmt.Fprintf(w, "%-10s  %s\n", "", a.Paint.Dim("was: "+OneLine(m.Was)))
		}
		if m.Or != "" {
			fmt.Fprintf(w, "%-10s  %s\n", "", a.Paint.Dim("or: "+OneLine(m.Or)))
		}
	}
	if p.LeftOut > 0 {
		fmt.Fprintf(w, "%s left out: nothing would remain after redaction.\n", Plural(p.LeftOut, "memory is", "memories are"))
	}
	for _, h := range p.Held {
		fmt.Fprintf(w, "%s held back by your policy: %s.\n", Plural(h.Memories, "memory is", "memories are"), OneLine(h.Why))
	}
	if p.Few > 0 {
		fmt.Fprintf(w, "%s left out: too few people have the same.\n", Plural(p.Few, "memory is", "memories are"))
	}
	for i, r := range p.Risks {
		if i == 0 {
			fmt.Fprintln(w, "A reader might learn more than you intend:")
		}
		if i == shownRisks {
			fmt.Fprintf(w, "  and %d more; --json names all\n", len(p.Risks)-i)
			break
		}
		fmt.Fprintf(w, "  %s\n", OneLine(r.What))
	}
	showMarks(w, p.Marks)
	for _, r := range p.Readers {
		fmt.Fprintf(w, "To %s, whose key says: %s\n", OneLine(r.Name), r.Words)
	}
}

// shownRisks is how many risks a person is shown.
const shownRisks = 12
