// Package category sorts memories into the matters that a person browses by:
// food, family, work. A category is a name with words and slot attributes; a
// memory is in every category of which its text or entities hold a word, or
// its slot has an attribute. Nothing is stored: sorting is a pure function of
// the memory and of the categories that its owner has now.
package category

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// Category is one matter.
type Category struct {
	Name       string
	Words      []string // English in any of its usual endings, Chinese anywhere in the text
	Attributes []string // of slots, as the extractors name them
}

// Limits on categories from outside.
const (
	MaxCategories = 256
	MaxWords      = 1000 // of one category
)

// Misc is where a memory is that is in no other.
const Misc = "misc"

// Sorter sorts. It does not change, and may be used concurrently.
type Sorter struct {
	names      []string
	words      map[string][]int // indexes of categories, by lower-case word
	phrases    []phrase         // searched for as a part of the text
	attributes map[string][]int
}

type phrase struct {
	text string
	of   int
}

// New makes a sorter. An error wraps [memory.ErrInvalid] and names the
// category.
func New(list []Category) (*Sorter, error) {
	if len(list) > MaxCategories {
		return nil, fmt.Errorf("%w: %d categories, at most %d", memory.ErrInvalid, len(list), MaxCategories)
	}
	s := &Sorter{words: map[string][]int{}, attributes: map[string][]int{}}
	for i, c := range list {
		name := strings.ToLower(strings.TrimSpace(c.Name))
		switch {
		case name == "" || name == Misc || len(name) > memory.MaxName:
			return nil, fmt.Errorf("%w: category %q: want another name", memory.ErrInvalid, c.Name)
		case slices.Contains(s.names, name):
			return nil, fmt.Errorf("%w: category %q: it is defined twice", memory.ErrInvalid, name)
		case len(c.Words)+len(c.Attributes) == 0 || len(c.Words) > MaxWords:
			return nil, fmt.Errorf("%w: category %q: want 1 to %d words", memory.ErrInvalid, name, MaxWords)
		}
		s.names = append(s.names, name)
		for _, w := range c.Words {
			n := memory.Normal(w)
			switch {
			case n == "":
				return nil, fmt.Errorf("%w: category %q: %q is not a word", memory.ErrInvalid, name, w)
			case strings.Contains(n, " "):
				s.phrases = append(s.phrases, phrase{" " + n + " ", i})
			case han(n):
				s.phrases = append(s.phrases, phrase{n, i})
			default:
				s.words[n] = append(s.words[n], i)
			}
		}
		for _, a := range c.Attributes {
			s.attributes[a] = append(s.attributes[a], i)
		}
	}
	return s, nil
}

func han(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// Names returns the categories in the order in which they were given, and Misc.
func (s *Sorter) Names() []string { return append(slices.Clone(s.names), Misc) }

// Of returns the categories of a memory, in their order, or Misc if it is in no other.
func (s *Sorter) Of(m *memory.Memory) []string {
	in := make([]bool, len(s.names))
	mark := func(list []int) {
		for _, i := range list {
			in[i] = true
		}
	}
	if m.Slot != nil {
		attribute, _, _ := strings.Cut(m.Slot.Attribute, ":")
		mark(s.attributes[attribute])
	}
	text := memory.Normal(m.Text)
	for w := range strings.FieldsSeq(text) {
		for _, form := range forms(w) {
			mark(s.words[form])
		}
	}
	text = " " + text + " "
	for _, p := range s.phrases {
		if strings.Contains(text, p.text) {
			in[p.of] = true
		}
	}
	var out []string
	for i, is := range in {
		if is {
			out = append(out, s.names[i])
		}
	}
	if out == nil {
		out = []string{Misc}
	}
	return out
}

// forms returns a word, and the words of which it may be a plural or another form.
func forms(w string) []string {
	out := []string{w}
	for _, end := range []struct{ cut, add string }{
		{"s", ""}, {"es", ""}, {"ies", "y"}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"},
	} {
		if stem, ok := strings.CutSuffix(w, end.cut); ok && len(stem) > 2 {
			out = append(out, stem+end.add)
			if n := len(stem); end.add == "" && len(end.cut) > 1 && stem[n-1] == stem[n-2] {
				out = append(out, stem[:n-1]) // swimming, planned
			}
		}
	}
	return out
}
