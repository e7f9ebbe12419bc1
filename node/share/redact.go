package share

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Vocabulary has the people and places that a wearer's memories know.
type Vocabulary struct {
	Names, Places []string
	In            map[string]string // by place, folded: the place that contains it
}

// Add adds the names in a memory.
func (v *Vocabulary) Add(m *memory.Memory) {
	for _, e := range m.Entities {
		switch e.Kind {
		case "person":
			v.Names = append(v.Names, e.Name)
		case "place", "organisation":
			v.Places = append(v.Places, e.Name)
		}
	}
	for _, e := range m.Evidence {
		v.Names = append(v.Names, e.Speaker)
	}
	if f := m.Fields.Episodic; f != nil {
		v.Names, v.Places = append(v.Names, f.Actor), append(v.Places, f.Place)
	}
	if s := m.Slot; s != nil {
		switch s.Attribute {
		case "name":
			v.Names = append(v.Names, s.Value)
		case "home", "address", "staying_at", "employer", "workplace", "school", "birthplace", "location":
			v.Places = append(v.Places, s.Value)
		}
	}
	v.addLocation(m)
}

// removedMark replaces what was removed. It has no letters, so it can't contain a redacted
// word.
const removedMark = "[…]"

// Redactor removes terms from texts. It is safe for concurrent use.
type Redactor struct {
	terms  []string          // folded, longest first
	roles  map[string]string // by term: its replacement
	times  bool
	coarse Coarse
	round  bool // numbers are rounded
}

// minInnerLength is the number of letters from which a term is also found inside longer
// words: "Lisbon" in "lisbon2024". A shorter term is only found at the beginning of
// a word. It is better to remove too much than too little.
const minInnerLength = 5

// maxSuffix is how many letters may follow a short term of at least three letters, such
// as case endings.
const maxSuffix = 2

// NewRedactor makes a Redactor. Each word of a name with several words is a term as
// well. secret derives a secret from a term, from which the pseudonym is made; it
// may be nil if there are no pseudonyms.
func NewRedactor(r Redaction, v Vocabulary, secret func(term string) [32]byte) *Redactor {
	var terms []string
	add := func(s string, parts bool) {
		before := len(terms)
		if f := fold(s); len(f) > 0 {
			terms = append(terms, string(f))
		}
		if parts {
			terms = append(terms, words(s)...)
		}
		for _, t := range terms[before:] {
			terms = append(terms, spellingVariants(s, t)...)
		}
	}
	for _, w := range r.Words {
		add(w, false)
	}
	roles := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Roles)) {
		before := len(terms)
		add(name, true)
		// If the memories know a longer form of the name, all its words get the
		// role, too.
		for _, whole := range v.Names {
			if f := string(fold(whole)); f != "" && strings.HasPrefix(f, string(fold(name))) {
				add(whole, true)
			}
		}
		for _, t := range terms[before:] {
			roles[t] = "[" + r.Roles[name] + "]"
		}
	}
	if r.Names {
		for _, n := range v.Names {
			if !slices.Contains(notPersons, string(fold(n))) {
				add(n, true)
			}
		}
	}
	if r.Places {
		var said []string // regions, and their words
		for _, region := range r.Regions {
			said = append(append(said, string(fold(region))), words(region)...)
		}
		for _, p := range v.Places {
			before := len(terms)
			add(p, true)
			terms = append(terms[:before], slices.DeleteFunc(slices.Clone(terms[before:]), func(t string) bool { return slices.Contains(said, t) })...)
			if in := v.region(p, r.Regions); in != "" {
				for _, t := range terms[before:] {
					if _, is := roles[t]; !is {
						roles[t] = "[" + in + "]"
					}
				}
			}
		}
	}
	out := &Redactor{roles: roles, times: r.Times, coarse: r.Coarse, round: r.Numbers}
	sorting.Sort(terms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	out.terms = slices.Compact(terms)
	if r.Names && r.Pseudonyms {
		for t, p := range pseudonyms(v.Names, secret, out.Holds) {
			if _, is := roles[t]; !is {
				roles[t] = p
			}
		}
	}
	return out
}

// notPersons has names of speakers that name no person.
var notPersons = []string{"user", "theuser", "wearer", "thewearer", "someone", "speaker", "unknown", "me", "i"}

// ordinaryWords has parts of names that are ordinary words.
var ordinaryWords = []string{"the", "and", "for", "von", "van", "der", "den", "des", "street", "road", "house", "city", "new", "north", "south", "east", "west", "doctor", "mum", "dad"}

// fold makes texts comparable. It decomposes compatibility forms, removes marks and
// invisible characters, and keeps only letters and digits, in lower case. Letters
// with two spellings become one, and so do letters that look alike.
func fold(s string) []rune {
	var out []rune
	for _, c := range norm.NFKD.String(s) {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			out = append(out, foldLetter(hans.Rune(c))...)
		}
	}
	return out
}

// folded is a text with the place of each folded letter in the original.
type folded struct {
	runes      []rune
	start, end []int  // byte offsets in the original
	first      []bool // it begins a word
}

func foldText(s string) folded {
	var f folded
	begins := true
	for i, c := range s {
		size := utf8.RuneLen(c)
		if c == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		letter := false
		for _, d := range norm.NFKD.String(string(c)) {
			if !unicode.IsLetter(d) && !unicode.IsDigit(d) {
				continue
			}
			for _, p := range foldLetter(hans.Rune(d)) {
				f.runes = append(f.runes, p)
				f.start, f.end = append(f.start, i), append(f.end, i+size)
				f.first = append(f.first, begins || !alphabetic(d))
				begins, letter = false, true
			}
		}
		if letter {
			continue
		}
		if unicode.IsMark(c) || unicode.Is(unicode.Cf, c) { // it belongs to the letter before it, or is invisible
			if n := len(f.end); n > 0 && f.end[n-1] == i {
				f.end[n-1] = i + size
			}
			continue
		}
		begins = true
	}
	return f
}

// alphabetic reports whether a character's script has spaces between words.
func alphabetic(c rune) bool {
	return !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// span is a range of bytes that is removed, and its replacement.
type span struct {
	from, to    int
	replacement string
}

// spans returns the byte ranges of a text that are removed because of terms and
// times.
func (r *Redactor) spans(s string) []span {
	var out []span
	f := foldText(s)
	for _, t := range r.terms {
		term := []rune(t)
		for i := 0; i+len(term) <= len(f.runes); i++ {
			if !slices.Equal(f.runes[i:i+len(term)], term) {
				continue
			}
			last := i + len(term) - 1
			if len(term) < minInnerLength && alphabetic(term[0]) {
				if !f.first[i] {
					continue
				}
				n := last + 1
				for n < len(f.runes) && !f.first[n] {
					n++
				}
				if extra := n - 1 - last; extra > maxSuffix || extra > 0 && len(term) < 3 {
					continue
				}
				last = n - 1
			}
			out = append(out, span{f.start[i], f.end[last], cmp.Or(r.roles[t], removedMark)})
		}
	}
	if r.times {
		plain := hans.Fold(s)
		for _, p := range timeForms {
			for _, m := range p.FindAllStringIndex(plain, -1) {
				out = append(out, span{m[0], m[1], removedMark})
			}
		}
	}
	if r.round {
		for _, m := range numberPattern.FindAllStringIndex(s, -1) {
			if n := roundNumber(s[m[0]:m[1]]); n != s[m[0]:m[1]] {
				out = append(out, span{m[0], m[1], n})
			}
		}
	}
	return out
}

// Text returns a text without what has to be removed.
func (r *Redactor) Text(s string) string {
	for range 4 { // a removal may join what was apart
		next := r.redactOnce(s)
		if next == s {
			return s
		}
		s = next
	}
	if len(r.spans(s)) > 0 {
		return removedMark
	}
	return s
}

func (r *Redactor) redactOnce(s string) string {
	spans := r.spans(s)
	if len(spans) == 0 {
		return s
	}
	sorting.Stable(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var b strings.Builder
	at := 0
	for _, p := range spans {
		if p.to <= at {
			continue
		}
		if p.from > at || at == 0 {
			b.WriteString(s[at:max(at, p.from)])
			b.WriteString(p.replacement)
		}
		at = p.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// Holds reports whether a text contains something that has to be removed.
func (r *Redactor) Holds(s string) bool { return len(r.spans(s)) > 0 }

// Apply redacts every text in the value that v points to, however deep, so that
// fields that are added to memories later are covered, too. Types of memories are
// from a fixed set and stay. With times, moments become zero.
func (r *Redactor) Apply(v any) { r.walk(reflect.ValueOf(v)) }

var (
	timeType = reflect.TypeFor[time.Time]()
	kindType = reflect.TypeFor[memory.Type]()
)

func (r *Redactor) walk(v reflect.Value) {
	switch {
	case v.Type() == timeType:
		if r.times && v.CanSet() {
			v.Set(reflect.ValueOf(r.coarse.round(v.Interface().(time.Time))))
		}
		return
	case v.Type() == kindType:
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(r.Text(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			r.walk(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.walk(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case reflect.Map:
		r.walkMap(v)
	}
}

func (r *Redactor) walkMap(v reflect.Value) {
	out := reflect.MakeMap(v.Type())
	for it := v.MapRange(); it.Next(); {
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.Set(it.Key())
		e.Set(it.Value())
		r.walk(k)
		r.walk(e)
		out.SetMapIndex(k, e)
	}
	if !v.IsNil() && v.CanSet() {
		v.Set(out)
	}
}
