package retrieve

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// Parameters for the worth of a part of a line. The values were compared on LoCoMo's development
// conversations, where neighbouring values give the same within .3 (docs/recall.md).
const (
	rankOffset = 2   // the item at index n is worth (n+2)^-1.5
	rankPower  = 1.5 //
	unasked    = .5  // worth of a word that the question does not have
	lineCost   = 18  // bytes that a line costs besides its words
)

// entry is an item that may go into a block: its line in parts, of which some are shown. The parts
// of an utterance are its sentences. Those of a memory are its text, and what was said.
type entry struct {
	item  *Item
	cite  string
	head  string   // beginning of the line, before the parts
	parts []string // escaped
	shown []bool   // by part
	run   int      // of an utterance: its run of talk
	size  extent   // size of the line as it is shown, with its newline; zero before a part is shown
	runes int      // characters of the line as it is shown
}

// part is one part of one entry.
type part struct {
	entry, at int
	worth     float64 // worth relative to its length
}

// text returns the line with the parts that are shown. In an utterance, "…" stands for those that
// are not: before, between and after.
func (e *entry) text() string {
	var b strings.Builder
	b.WriteString(e.head)
	gap, begun, joined := false, false, false // joined: Chinese has no space between sentences
	for i, s := range e.parts {
		if !e.shown[i] {
			gap = e.item.Section == Utterances
			continue
		}
		if begun && (gap || !joined) {
			b.WriteByte(' ')
		}
		if gap {
			b.WriteString("… ")
		}
		b.WriteString(s)
		gap, begun, joined = false, true, strings.HasSuffix(s, "。") || strings.HasSuffix(s, "！") || strings.HasSuffix(s, "？")
	}
	if gap && begun {
		b.WriteString(" …")
	}
	return b.String()
}

// begun reports whether a part of the entry is shown.
func (e *entry) begun() bool { return slices.Contains(e.shown, true) }

// choices returns the parts of all entries, best first. The first part of an entry has the worth of
// the entry's rank. Every other part is worth that times its share of the entry's words, in which
// words of the question count most. Long parts are worth less.
func choices(topic string, entries []entry) []part {
	asked := map[string]bool{}
	for _, w := range recall.ContentWords(topic) {
		asked[w.Term] = true
	}
	words := make([][]map[string]bool, len(entries))
	in := map[string]int{} // number of entries that have a word
	for i := range entries {
		all := map[string]bool{}
		for _, s := range entries[i].parts {
			own := map[string]bool{}
			for _, w := range recall.ContentWords(s) {
				// In evidence, only words that the memory's text doesn't have count.
				own[w.Term] = entries[i].item.Section == Utterances || !all[w.Term]
			}
			for w := range own {
				all[w] = true
			}
			words[i] = append(words[i], own)
		}
		for w := range all {
			in[w]++
		}
	}
	var out []part
	for i := range entries {
		place := math.Pow(float64(i+rankOffset), -rankPower)
		worth, sum := make([]float64, len(words[i])), 0.0
		for k, own := range words[i] {
			for _, w := range slices.Sorted(maps.Keys(own)) { // floating-point sums need a fixed order
				switch v := math.Log(1 + float64(MaxUtterances)/float64(1+in[w])); {
				case !own[w]:
				case asked[w]:
					worth[k] += v
				default:
					worth[k] += unasked * v
				}
			}
			sum += worth[k]
		}
		out = append(out, entries[i].choices(i, place, worth, sum)...)
	}
	sorting.Stable(out, func(a, b part) int { return cmp.Compare(b.worth, a.worth) })
	return out
}

// choices returns the parts of one entry; no part is worth more than the one before it. The first
// part of an item with First set is worth more than anything else.
func (e *entry) choices(n int, place float64, worth []float64, sum float64) []part {
	order := make([]int, len(e.parts))
	for k := range order {
		order[k] = k
	}
	if e.item.Section == Utterances {
		sorting.Stable(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	}
	out := make([]part, len(order))
	last := math.Inf(1)
	for k, at := range order {
		size := extentOf(e.parts[at])
		long := float64(4*size.wide + size.bytes)
		w := place / math.Sqrt(lineCost+long)
		switch {
		case k == 0 && e.item.First:
			w = math.Inf(1)
		case k > 0:
			w = place * worth[at] / max(sum, 1e-9) / math.Sqrt(max(1, long))
		}
		last = min(last, w)
		out[k] = part{n, at, last}
	}
	return out
}

// A short sentence belongs to the previous one, which it may take back: "That was a joke." A part
// has at most this many of them, and a short sentence has at most this many words, or Chinese
// characters.
const (
	together   = 3
	shortWords = 6
	shortHan   = 8
	maxParts   = 64 // of an utterance; the last part has all the rest
)

// sentences splits an escaped text after marks that end a sentence. A piece that is too short to be
// a sentence stays with the following one, and a short sentence with the previous one. A run of
// marks, as ！！！, is one.
func sentences(s string) []string {
	var out []string
	from, begin, short := 0, 0, 0 // beginnings of the part and of the sentence; number of short sentences in the part
	runes := []rune(s)
	for i := range runes {
		if len(out) == maxParts-1 {
			break
		}
		last := i+1 == len(runes)
		if !last && (!ends(runes, i) || runes[i] == '.' && i-begin < 4 && begin == from) {
			continue
		}
		if begin > from && short < together && isShort(string(runes[begin:i+1])) {
			short++
		} else if begin > from {
			out, from, short = append(out, strings.TrimSpace(string(runes[from:begin]))), begin, 0
		}
		begin = i + 1
	}
	return append(out, strings.TrimSpace(string(runes[from:])))
}

func isShort(s string) bool {
	return extentOf(s).wide <= shortHan && len(strings.Fields(s)) <= shortWords
}

// ends reports whether the mark at i, which is not the last character, ends a sentence. A
// hesitation ("...", "…", 。。。) and an abbreviation don't: a "not" that is cut off would reverse the
// meaning.
func ends(s []rune, i int) bool {
	next := s[i+1]
	if strings.ContainsRune(marks, next) {
		return false
	}
	switch s[i] {
	case '！', '？':
		return true
	case '。':
		return i == 0 || s[i-1] != '。' && s[i-1] != '…'
	case '!', '?':
		return next == ' '
	case '.':
	default:
		return false
	}
	if next != ' ' || i == 0 || s[i-1] == '.' || s[i-1] == '…' {
		return false
	}
	begin := i + 2 // start of the next word
	for begin < len(s) && strings.ContainsRune("\"'“‘(", s[begin]) {
		begin++
	}
	if begin == len(s) || !unicode.IsUpper(s[begin]) && !unicode.IsDigit(s[begin]) && !unicode.Is(unicode.Han, s[begin]) {
		return false
	}
	from := i // start of the word before the mark
	for from > 0 && (unicode.IsLetter(s[from-1]) || s[from-1] == '.') {
		from--
	}
	word := strings.ToLower(string(s[from:i]))
	if word == "no" { // "No. 5", but not "No. I was joking."
		return !unicode.IsDigit(s[begin])
	}
	return !slices.Contains(abbreviations, word)
}

const marks = ".!?…。！？"

// abbreviations are words after which a capital may follow in the middle of a sentence.
var abbreviations = []string{"mr", "mrs", "ms", "dr", "st", "vs", "e.g", "i.e", "etc"}

// A run of talk has one heading, with its day and the time when it begins.
const (
	runGap    = 30 * time.Minute // the same as between sessions
	runLength = time.Hour
)

// runs finds which entries (utterances) are in one run, and returns each run's heading. Runs are in
// the order of time.
func runs(entries []entry, zone *time.Location) (headings []string) {
	var said []*entry
	for i := range entries {
		if entries[i].item.Section == Utterances {
			said = append(said, &entries[i])
		}
	}
	sortByTime(said)
	var began, last time.Time
	for i, e := range said {
		at := e.item.At.In(zone)
		if i == 0 || at.Sub(last) > runGap || at.Sub(began) > runLength || at.YearDay() != began.YearDay() || at.IsZero() != began.IsZero() {
			began = at
			headings = append(headings, headingOf(at))
		}
		last, e.run = at, len(headings)-1
	}
	return headings
}

func headingOf(at time.Time) string {
	if at.IsZero() {
		return "without a date:"
	}
	return at.Format("2006-01-02 15:04") + ":"
}

func sortByTime(list []*entry) {
	sorting.Stable(list, func(a, b *entry) int { return a.item.At.Compare(b.item.At) })
}

// entriesOf makes entries of the items, except core blocks and items that no block shows.
func entriesOf(items []Item, cites map[memory.ID]string, zone *time.Location) (out []entry) {
	for i := range items {
		it := &items[i]
		if it.Section == memory.Core || tagOf(it.Section) == "" {
			continue
		}
		e := entry{item: it, cite: cites[it.ID], head: headOf(it, cites[it.ID], zone)}
		if it.Section == Utterances {
			e.parts = sentences(Escape(it.Text))
			for k, s := range e.parts {
				e.parts[k] = cut(s, maxLine)
			}
		} else {
			e.parts = tellingOf(it)
		}
		e.shown = make([]bool, len(e.parts))
		out = append(out, e)
	}
	return out
}
