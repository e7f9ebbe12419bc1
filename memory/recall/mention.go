package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/memory/graph"
	"github.com/locket-dev/locket/memory/names"
)

// mentions returns the folded names in a text: runs of capitalised words that do not begin a
// sentence, "Tom Weaver" as one. A word that begins a sentence belongs to a name only if another
// capitalised word follows.
func mentions(text string) []string {
	var out []string
	var run []string
	first := false // the run begins a sentence
	end := func() {
		if len(run) > 1 || len(run) == 1 && !first {
			if n := names.Fold(strings.Join(run, " ")); n != "" && !slices.Contains(out, n) && len(out) < graph.MaxNames {
				out = append(out, n)
			}
		}
		run = run[:0]
	}
	begins := true
	for len(text) > 0 {
		n := strings.IndexFunc(text, inWord)
		if n < 0 {
			break
		}
		gap := text[:n]
		switch {
		case strings.ContainsAny(gap, ".!?…:;\n\"“”(。！？：；（"):
			begins = true
		case strings.ContainsFunc(gap, ideographic):
			begins = false
		}
		if gap != " " && gap != "-" {
			end()
		}
		text = text[n:]
		n = strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		if n < 0 {
			n = len(text)
		}
		w := text[:n]
		text = text[n:]
		if base, tail, ok := strings.Cut(strings.ReplaceAll(w, "’", "'"), "'"); ok && (tail == "s" || tail == "") {
			w = base
		}
		if named(w) {
			if len(run) == 0 {
				first = begins
			}
			run = append(run, w)
		} else {
			end()
		}
		begins = false
	}
	end()
	return out
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) && !ideographic(r) || unicode.IsDigit(r) || r == '\'' || r == '’'
}

// named reports whether a word looks like a name or part of one: a capital, at
// least two letters, and neither a grammar word nor a month or weekday.
func named(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	if !unicode.IsUpper(r) || len(w) == size {
		return false
	}
	low := strings.ToLower(w)
	return !stopWords[low] && calendar.MonthNamed(low) == 0 && calendar.Weekdays(low) == 0 && !strings.HasPrefix(low, "i'")
}

// relationTerm writes a relation as a term: its parts and its bounds in Unix seconds, separated by
// \x1f. It is empty if a part is missing or too long.
func relationTerm(r graph.Relation) string {
	subject, object := names.Fold(r.Subject), names.Fold(r.Object)
	predicate := strings.ToLower(strings.Join(strings.Fields(strings.Map(unmark, r.Predicate)), " "))
	if subject == "" || object == "" || predicate == "" || len(predicate) > names.MaxName {
		return ""
	}
	return relationMark + strings.Join([]string{subject, predicate, object, bound(r.From), bound(r.To)}, "\x1f")
}

func unmark(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// relationOf parses a term that relationTerm wrote.
func relationOf(term string) (r graph.Relation, ok bool) {
	f := strings.Split(strings.TrimPrefix(term, relationMark), "\x1f")
	if len(f) != 5 {
		return r, false
	}
	r = graph.Relation{Subject: f[0], Predicate: f[1], Object: f[2]}
	for i, t := range []*time.Time{&r.From, &r.To} {
		if f[3+i] == "" {
			continue
		}
		n, err := strconv.ParseInt(f[3+i], 10, 64)
		if err != nil {
			return r, false
		}
		*t = time.Unix(n, 0).UTC()
	}
	return r, true
}
