package recall

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
)

// Limits of a dictionary.
const (
	dictionaryLine = 64 << 10 // bytes in a line
	dictionaryMost = 1 << 20  // pairs that are kept
	dictionaryEach = 64       // translations of one word; the first senses are kept
	dictionaryWord = 8        // characters of a Chinese word
	dictionarySize = 64 << 20 // bytes of the file, unpacked
)

// weightDictionary is the weight of a translation from a dictionary if the built-in pairs have one,
// too. A dictionary lists senses that nobody uses.
const weightDictionary = .6

// Dictionary translates English words to Chinese and back, in addition to the built-in pairs. It
// never changes and is safe for concurrent use.
type Dictionary struct {
	english table // from a term, or two separated by a space, to Chinese words
	chinese table // from a Chinese word to terms
	longest int   // characters of the longest Chinese word
}

// ReadDictionary reads a dictionary in the format of CC-CEDICT, in UTF-8: a line for each word,
// TRADITIONAL SIMPLIFIED [PINYIN] /SENSE/SENSE/, and comments that begin with #. It keeps words of
// two to eight Chinese characters, and senses of one or two English words. An error wraps
// [memory.ErrInvalid] and names the line.
func ReadDictionary(r io.Reader) (*Dictionary, error) {
	var ps []pair
	g := glosses{}
	limited := &io.LimitedReader{R: r, N: dictionarySize + 1}
	in := bufio.NewScanner(limited)
	in.Buffer(nil, dictionaryLine)
	n, entries := 0, 0
	for in.Scan() {
		n++
		line := strings.TrimSpace(in.Text())
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		e, ok := entryOf(line)
		if !ok {
			return nil, fmt.Errorf("%w: dictionary: line %d is not an entry of CC-CEDICT (TRADITIONAL SIMPLIFIED [PINYIN] /SENSE/)", memory.ErrInvalid, n)
		}
		entries++
		ps = e.pairs(ps, int32(n), g)
		if len(ps) > dictionaryMost {
			return nil, fmt.Errorf("%w: dictionary: more than %d pairs of words, in line %d", memory.ErrInvalid, dictionaryMost, n)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%w: dictionary: line %d: %w", memory.ErrInvalid, n+1, err)
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("%w: dictionary: more than %d MiB", memory.ErrInvalid, dictionarySize>>20)
	}
	if entries == 0 {
		return nil, fmt.Errorf("%w: dictionary: it has no entry", memory.ErrInvalid)
	}
	return dictionaryOf(ps), nil
}

func dictionaryOf(ps []pair) *Dictionary {
	d := &Dictionary{}
	for i := range ps {
		d.longest = max(d.longest, utf8.RuneCountInString(ps[i].zh))
	}
	d.english = tableOf(ps, func(p pair) (string, string) { return p.en, p.zh })
	d.chinese = tableOf(ps, func(p pair) (string, string) { return p.zh, p.en })
	return d
}

// pair is a translation. sense is the index of the sense in its entry; line is the line of the
// entry.
type pair struct {
	en, zh      string
	sense, line int32
}

type entry struct {
	simplified string
	senses     []string
}

func entryOf(line string) (e entry, ok bool) {
	head, senses, ok := strings.Cut(line, "/")
	if !ok || !utf8.ValidString(line) {
		return e, false
	}
	words, _, ok := strings.Cut(head, "[")
	f := strings.Fields(words)
	if !ok || len(f) < 2 {
		return e, false
	}
	e.simplified = f[1]
	e.senses = strings.FieldsFunc(senses, func(r rune) bool { return r == '/' || r == ';' })
	return e, true
}

// pairs appends what the entry says to ps.
func (e *entry) pairs(ps []pair, line int32, g glosses) []pair {
	n := utf8.RuneCountInString(e.simplified)
	if n < 2 || n > dictionaryWord || strings.ContainsFunc(e.simplified, func(r rune) bool { return !unicode.Is(unicode.Han, r) }) {
		return ps
	}
	// A word must not keep the whole line in memory.
	word := strings.Clone(hans.Fold(e.simplified))
	sense := int32(0)
	for _, s := range e.senses {
		en := g.of(s)
		if en == "" {
			continue
		}
		ps = append(ps, pair{en, word, sense, line})
		sense++
	}
	return ps
}

// notes are the beginnings of notes that are listed among the senses.
var notes = []string{"CL:", "variant of", "old variant", "erhua variant", "see ", "see also", "also written", "also pr.", "surname ", "abbr. ", "Taiwan pr.", "used in", "idiom"}

// glosses caches terms by word, because stemming takes longer than everything else.
type glosses map[string]string

// of returns the terms of a sense, one or two separated by a space. It returns nothing for longer
// senses, such as "to wash the dishes" or an explanation.
func (g glosses) of(sense string) string {
	var b strings.Builder
	deep := 0
	for _, r := range sense {
		switch {
		case r == '(':
			deep++
		case r == ')':
			deep--
		case deep == 0:
			b.WriteRune(r)
		}
	}
	s := strings.TrimSpace(b.String())
	for _, note := range notes {
		if strings.HasPrefix(s, note) {
			return ""
		}
	}
	var words []string
	for _, w := range strings.Fields(strings.ToLower(s)) {
		if stopWords[w] || glossWords[w] {
			continue
		}
		w = strings.ReplaceAll(w, "-", "")
		if !letters(w) || len(words) == 2 {
			return ""
		}
		words = append(words, w)
	}
	for i, w := range words {
		term, ok := g[w]
		if !ok {
			term = strings.Clone(lemma(w))
			g[strings.Clone(w)] = term
		}
		words[i] = term
	}
	return strings.Join(words, " ")
}

// glossWords are helper words in a sense that are not part of its meaning.
var glossWords = map[string]bool{"sb": true, "sth": true, "sb's": true, "oneself": true, "one's": true, "etc": true, "get": true, "make": true, "have": true, "very": true}

// table finds the translations of a word. Its text has a sorted line for each word: the word and
// its translations, separated by tabs.
type table struct {
	text string
	at   []uint32 // where each line begins
}

func tableOf(ps []pair, of func(pair) (word, other string)) table {
	slices.SortFunc(ps, func(a, b pair) int {
		x, _ := of(a)
		y, _ := of(b)
		return cmp.Or(strings.Compare(x, y), cmp.Compare(a.sense, b.sense), cmp.Compare(a.line, b.line))
	})
	var t table
	var text bytes.Buffer
	var seen []string
	last := ""
	for i := range ps {
		word, other := of(ps[i])
		if word != last {
			if last != "" {
				text.WriteByte('\n')
			}
			t.at = append(t.at, uint32(text.Len()))
			text.WriteString(word)
			last, seen = word, seen[:0]
		}
		if len(seen) < dictionaryEach && !slices.Contains(seen, other) {
			seen = append(seen, other)
			text.WriteByte('\t')
			text.WriteString(other)
		}
	}
	t.text = text.String()
	return t
}

// of returns the translations of a word, the most usual sense first.
func (t *table) of(word string) []string {
	begins := func(i int) string {
		s := t.text[t.at[i]:]
		end := strings.IndexByte(s, '\t')
		return s[:end]
	}
	i := sort.Search(len(t.at), func(i int) bool { return begins(i) >= word })
	if i == len(t.at) || begins(i) != word {
		return nil
	}
	line, _, _ := strings.Cut(t.text[t.at[i]:], "\n")
	return strings.Split(line, "\t")[1:]
}

// inChinese returns the Chinese words of a term that a dictionary adds. It may be
// called on nil.
func (d *Dictionary) inChinese(term string) []string {
	if d == nil {
		return nil
	}
	return d.english.of(term)
}

// inEnglish returns the terms of a Chinese word that a dictionary adds. It may be
// called on nil.
func (d *Dictionary) inEnglish(word string) []string {
	if d == nil {
		return nil
	}
	return d.chinese.of(word)
}
