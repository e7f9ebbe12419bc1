package labelled

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/locket-dev/locket/memory"
)

// Wearer is the speaker of the extraction set who wears the device.
const Wearer = "User"

// types are those that a kind accepts; see README.md.
var types = map[Kind][]memory.Type{
	"preference": {memory.Semantic, memory.Core},
	"biography":  {memory.Semantic, memory.Core},
	"relation":   {memory.Semantic, memory.Core},
	"place":      {memory.Semantic, memory.Core},
	"possession": {memory.Semantic, memory.Core},
	"event":      {memory.Episodic},
	"plan":       {memory.Episodic},
	"promise":    {memory.Episodic, memory.Semantic},
	"howto":      {memory.Procedural},
	"secret":     {memory.Vault},
	"correction": {memory.Core, memory.Episodic, memory.Semantic, memory.Procedural, memory.Resource},
	"ended":      {memory.Core, memory.Episodic, memory.Semantic, memory.Procedural, memory.Resource},
}

// Fault is the first rule by which a memory misses a label, in the README's
// order.
type Fault string

// The faults; Fits is none.
const (
	Fits     Fault = ""
	BadType  Fault = "type"
	BadAbout Fault = "about"
	BadTerms Fault = "terms"
	BadDate  Fault = "date"
	Leaks    Fault = "never"
)

// Judge says whether a memory fits a label of a line.
func Judge(m *memory.Memory, e *Label, zone *time.Location) Fault {
	text := fold(statement(m))
	switch {
	case leaks(m, e):
		return Leaks
	case !slices.ContainsFunc(e.Kinds, func(k Kind) bool { return slices.Contains(types[k], m.Type) }):
		return BadType
	case !about(m, e):
		return BadAbout
	case !holds(text, e.Terms):
		return BadTerms
	case e.Date != "" && !dated(m, text, e.Date, zone):
		return BadDate
	}
	return Fits
}

// Ends reports whether a memory of an earlier line is what a label of kind ended is about, and is
// no longer true.
func Ends(m *memory.Memory, e *Label) bool {
	return slices.Contains(e.Kinds, "ended") && (m.State == memory.Superseded || !m.TrueTo.IsZero()) && holds(fold(statement(m)), e.Terms)
}

// statement returns what a reader of the memory sees.
func statement(m *memory.Memory) string {
	s := m.Text
	if p := m.Fields.Procedural; p != nil {
		s += "\n" + strings.Join(p.Steps, "\n")
	}
	if v := m.Fields.Vault; v != nil {
		s += "\n" + v.Label
	}
	return s
}

func fold(s string) string { return cases.Fold().String(norm.NFKC.String(s)) }

// firstPerson are the words by which a statement may refer to the wearer, besides the name.
var firstPerson = [][]string{{"i"}, {"me"}, {"my"}, {"we"}, {"our"}, {"us"}, {"用户"}}

func about(m *memory.Memory, e *Label) bool {
	if len(e.About) == 0 {
		return true
	}
	text := fold(m.Text)
	for _, name := range e.About {
		if contains(text, fold(name), true) {
			return true
		}
		if name != Wearer {
			continue
		}
		if strings.Contains(text, "我") || m.Slot != nil && fold(m.Slot.Subject) == "user" {
			return true
		}
		for _, p := range firstPerson {
			if contains(text, p[0], true) {
				return true
			}
		}
	}
	return false
}

// holds reports whether a folded text contains one term of each group.
func holds(text string, groups [][]string) bool {
	for _, g := range groups {
		if !slices.ContainsFunc(g, func(term string) bool { return contains(text, fold(term), false) }) {
			return false
		}
	}
	return true
}

// contains reports whether text contains term at the beginning of a word, for digits also up to the
// end of a number, and for Chinese anywhere. If whole is set, the word must end with the term.
func contains(text, term string, whole bool) bool {
	first, _ := utf8.DecodeRuneInString(term)
	last, _ := utf8.DecodeLastRuneInString(term)
	for at := 0; ; {
		i := strings.Index(text[at:], term)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(term):])
		switch {
		case unicode.IsDigit(first) && unicode.IsDigit(before):
		case unicode.IsDigit(last) && unicode.IsDigit(after):
		case spelt(first) && spelt(before):
		case whole && spelt(last) && spelt(after):
		default:
			return true
		}
		at = i + max(1, utf8.RuneLen(first))
	}
}

// spelt reports whether words of r's script are written with spaces between.
func spelt(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) }

func leaks(m *memory.Memory, e *Label) bool {
	if len(e.Never) == 0 {
		return false
	}
	b, err := json.Marshal(m)
	return err != nil || slices.ContainsFunc(e.Never, func(n string) bool { return strings.Contains(fold(string(b)), fold(n)) })
}

// Score is the result for one line's labels and memories.
type Score struct {
	Line *Line
	// Found has, for each label, the index of the memory that fits it, or -1, or Ended.
	Found []int
	// Verdicts has one verdict for each memory.
	Verdicts []Verdict
	// Near has, for each label not found, the rule that the nearest memory breaks, or NothingMade.
	Near []Fault
}

// Ended is the value in Found if a memory of an earlier line was ended.
const Ended = 1 << 20

// NothingMade means that the line gave no memory at all.
const NothingMade Fault = "nothing"

// Verdict says how a memory is counted.
type Verdict string

// The verdicts. Uncounted means that the line has Either set, or that the memory fits an optional
// label.
const (
	Right     Verdict = "right"
	Duplicate Verdict = "duplicate"
	False     Verdict = "false"
	Uncounted Verdict = "uncounted"
)

// order of faults; the last is the nearest to fitting.
var order = []Fault{NothingMade, Leaks, BadType, BadAbout, BadTerms, BadDate}

// Rate judges the memories that a line gave, with those of the earlier lines
// of its scene.
func Rate(l *Line, made, earlier []memory.Memory) (Score, error) {
	zone, err := time.LoadLocation(l.Zone)
	if err != nil {
		return Score{}, err
	}
	s := Score{Line: l, Found: make([]int, len(l.Expect)), Near: make([]Fault, len(l.Expect)), Verdicts: make([]Verdict, len(made))}
	fits := make([][]int, len(made))
	for j := range l.Expect {
		e := &l.Expect[j]
		s.Found[j], s.Near[j] = -1, NothingMade
		for i := range made {
			f := Judge(&made[i], e, zone)
			if f == Fits {
				fits[i] = append(fits[i], j)
				s.Found[j] = i
			} else if slices.Index(order, f) > slices.Index(order, s.Near[j]) {
				s.Near[j] = f
			}
		}
		if s.Found[j] >= 0 {
			s.Near[j] = Fits
		} else if slices.ContainsFunc(earlier, func(m memory.Memory) bool { return Ends(&m, e) }) {
			s.Found[j], s.Near[j] = Ended, Fits
		}
	}
	turn := make([]int, len(made))
	for i := range turn {
		turn[i] = i
	}
	slices.SortStableFunc(turn, func(a, b int) int { return cmp.Compare(len(fits[a]), len(fits[b])) })
	taken := map[int]bool{}
	for _, i := range turn {
		s.Verdicts[i] = verdict(l, fits[i], taken)
		for _, j := range fits[i] {
			taken[j] = true
		}
	}
	return s, nil
}

func verdict(l *Line, fits []int, taken map[int]bool) Verdict {
	asked := slices.DeleteFunc(slices.Clone(fits), func(j int) bool { return l.Expect[j].Optional })
	switch {
	case l.Either, len(fits) > 0 && len(asked) == 0:
		return Uncounted
	case len(fits) == 0:
		return False
	case slices.ContainsFunc(asked, func(j int) bool { return !taken[j] }):
		return Right
	}
	return Duplicate
}
