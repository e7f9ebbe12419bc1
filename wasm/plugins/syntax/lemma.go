package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// A lemma follows from the longest ending of a form that is known for its tag:
// a line of the model is tag, ending, how many bytes to take off, what to put
// on, with tabs between. An ending that begins with ^ is a whole form.
type ending struct {
	off int
	on  string
}

// lemma is the lemma of an English form.
func (m *Model) lemma(form string, tag uint8) string {
	m.once.Do(func() {
		m.endings = map[string]ending{}
		for line := range strings.Lines(m.Lemmas) {
			col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(col) != 4 {
				continue
			}
			off, err := strconv.Atoi(col[2])
			if err == nil {
				m.endings[col[0]+"\t"+col[1]] = ending{off, col[3]}
			}
		}
	})
	return Lemma(form, m.Tags[tag], func(key string) (int, string, bool) {
		e, ok := m.endings[key]
		return e.off, e.on, ok
	})
}

// longestEnding is how many letters of a form its lemma may follow from.
const longestEnding = 5

// Lemma applies the rule for the longest ending that is known.
func Lemma(form, tag string, known func(key string) (off int, on string, ok bool)) string {
	low := strings.ToLower(greedy.Apostrophe(form))
	for _, end := range Endings(low) {
		if off, on, ok := known(tag + "\t" + end); ok && off <= len(low) {
			return low[:len(low)-off] + on
		}
	}
	return low
}

// Endings lists what a lemma may follow from, the longest first: the whole
// form, and its last letters.
func Endings(low string) []string {
	list := make([]string, 0, longestEnding+2)
	list = append(list, "^"+low)
	at := len(low)
	var shorter [longestEnding]string
	n := 0
	for n < longestEnding && at > 0 {
		_, size := utf8.DecodeLastRuneInString(low[:at])
		at -= size
		shorter[n] = low[at:]
		n++
	}
	for n--; n >= 0; n-- {
		list = append(list, shorter[n])
	}
	return append(list, "")
}
