package share

import (
	"encoding/binary"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/locket-dev/locket/memory"
)

// The replacements for what was removed, if it is not simply "[…]": a pseudonym
// for a person, a region for a place, a rounded number.

// words returns the words of a name, folded, without ordinary words.
func words(name string) (out []string) {
	for _, w := range strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '\'' && c != '’' }) {
		if f := fold(w); (len(f) > 2 || len(f) > 0 && !alphabetic(f[0])) && !slices.Contains(ordinaryWords, string(f)) {
			out = append(out, string(f))
		}
	}
	return out
}

// pseudonyms returns a made-up name for each term of the names. A name that is a
// part of exactly one other name means the same person: "Anna" is "Anna Meyer". If
// it is a part of several, it is not clear who is meant, and it gets a pseudonym
// of its own.
func pseudonyms(names []string, secret func(term string) [32]byte, clashes func(string) bool) map[string]string {
	has := map[string][]string{} // by name, folded: its words
	for _, n := range names {
		if f := string(fold(n)); f != "" && !slices.Contains(notPersons, f) {
			has[f] = words(n)
		}
	}
	within := func(w []string, of string) bool {
		for _, x := range w {
			if !slices.Contains(has[of], x) {
				return false
			}
		}
		return len(w) > 0 && len(w) < len(has[of])
	}
	whose := map[string][]string{} // by term: the longest names that it may mean
	for f, w := range has {
		for _, t := range append(slices.Clone(w), f) {
			if !slices.Contains(whose[t], f) {
				whose[t] = append(whose[t], f)
			}
		}
		for other := range has {
			if within(w, other) && !slices.Contains(whose[f], other) {
				whose[f] = append(whose[f], other)
			}
		}
	}
	out, taken := map[string]string{}, map[string]bool{}
	given := map[string]string{} // pseudonyms, by name
	give := func(who string) string {
		for try := byte(0); given[who] == ""; try++ {
			p := "[" + pronounceable(secret(who+"\x00"+string(rune(try)))) + "]"
			if !taken[p] && !clashes(p) || try == math.MaxUint8 {
				given[who], taken[p] = p, true
			}
		}
		return given[who]
	}
	for _, t := range slices.Sorted(maps.Keys(whose)) {
		longest := slices.DeleteFunc(slices.Clone(whose[t]), func(n string) bool { // without those that are part of another one
			return slices.ContainsFunc(whose[t], func(o string) bool { return within(has[n], o) })
		})
		if len(longest) == 1 {
			out[t] = give(longest[0])
		} else {
			out[t] = give(t)
		}
	}
	return out
}

// pronounceable makes a name of four syllables from a secret. Nobody has that name, but it
// can be pronounced. There are 31 million of them.
func pronounceable(b [32]byte) string {
	const consonants, vowels = "bdfgklmnprstvwz", "aeiou"
	n := binary.BigEndian.Uint64(b[:])
	var s strings.Builder
	for range 4 {
		s.WriteByte(consonants[n%uint64(len(consonants))])
		n /= uint64(len(consonants))
		s.WriteByte(vowels[n%uint64(len(vowels))])
		n /= uint64(len(vowels))
	}
	return strings.ToUpper(s.String()[:1]) + s.String()[1:]
}

// containmentPredicates are the predicates and attributes by which a memory says that its subject
// containmentPredicates in another place.
var containmentPredicates = []string{"located", "located in", "lies in", "is in", "in", "part of"}

// addLocation adds what a memory says about where a place lies.
func (v *Vocabulary) addLocation(m *memory.Memory) {
	put := func(place, how, in string) {
		if !slices.Contains(containmentPredicates, memory.Normal(strings.ReplaceAll(how, "_", " "))) || len(fold(place)) == 0 || len(fold(in)) == 0 {
			return
		}
		if v.In == nil {
			v.In = map[string]string{}
		}
		v.In[string(fold(place))] = in
		v.Places = append(v.Places, place, in)
	}
	if s := m.Slot; s != nil {
		put(s.Subject, s.Attribute, s.Value)
	}
	if f := m.Fields.Semantic; f != nil {
		put(f.Subject, f.Predicate, f.Object)
	}
}

// region returns the first of the regions in which a place lies; empty: in none,
// as far as is known.
func (v *Vocabulary) region(place string, regions []string) string {
	for range 8 { // from a room to a continent; the memories may be circular
		in, ok := v.In[string(fold(place))]
		if !ok {
			return ""
		}
		if i := slices.IndexFunc(regions, func(r string) bool { return slices.Equal(fold(r), fold(in)) }); i >= 0 {
			return regions[i]
		}
		place = in
	}
	return ""
}

// numberPattern are numbers as people write them.
var numberPattern = regexp.MustCompile(`\p{Nd}(?:[\p{Nd}.,'’]*\p{Nd})?`)

var (
	groupedNumber   = regexp.MustCompile(`^\d{1,3}(?:([.,'’])\d{3})(?:[.,'’]\d{3})*$`)
	numberWithCents = regexp.MustCompile(`^(\d{1,3}(?:[.,'’]\d{3})+)[.,]\d{1,2}$`)
	decimalNumber   = regexp.MustCompile(`^(\d+)[.,]\d+$`)
)

// maxDigits is the number of digits from which a number identifies something
// instead of counting, and is removed.
const maxDigits = 7

// roundNumber keeps the first digit of a number: 1,234.50 is 1000 and 3.7 is 4.
func roundNumber(s string) string {
	var plain strings.Builder
	digits := 0
	for _, c := range norm.NFKC.String(s) {
		if unicode.IsDigit(c) {
			c = '0' + digitOf(c)
			digits++
		}
		plain.WriteRune(c)
	}
	t := plain.String()
	if m := numberWithCents.FindStringSubmatch(t); m != nil {
		t = m[1]
	}
	if digits >= maxDigits {
		return removedMark
	}
	if groupedNumber.MatchString(t) {
		t = strings.NewReplacer(".", "", ",", "", "'", "", "’", "").Replace(t)
	} else if decimalNumber.MatchString(t) {
		t = strings.Replace(t, ",", ".", 1)
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil {
		return removedMark // 1.2.3
	}
	scale := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(f, 1)))))
	return strconv.FormatFloat(math.Round(f/scale)*scale, 'f', -1, 64)
}

// digitOf returns the value of a decimal digit of any script: Unicode has them in
// blocks of ten.
func digitOf(c rune) rune {
	n := rune(0)
	for n < 9 && unicode.IsDigit(c-n-1) {
		n++
	}
	return n
}
