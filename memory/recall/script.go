package recall

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory/names"
)

// otherScript is a name in the question in Latin letters, read as Chinese.
type otherScript struct {
	words   []int      // words of the question that it consists of
	terms   []weighted // pairs of characters that some document has
	speaker uint32     // speaker with this name; 0: none
}

// inChinese reads runs of one to three words of the question that no document
// has as a Chinese name: "Zhang Wei" where somebody wrote 张伟.
func (c *core) inChinese(words []word) []otherScript {
	var out []otherScript
	unknown := func(w word) bool {
		return !w.han && w.term != "" && len(c.found(w.term, 1)) == 0 && !c.knows(w.text)
	}
	for i := 0; i < len(words); i++ {
		for n := min(3, len(words)-i); n > 0; n-- {
			run := words[i : i+n]
			if slices.ContainsFunc(run, func(w word) bool { return !unknown(w) }) {
				continue
			}
			if s, ok := c.readings(run); ok {
				for j := range n {
					s.words = append(s.words, i+j)
				}
				out = append(out, s)
				i += n - 1
				break
			}
		}
	}
	return out
}

// readings finds the ways to read words as a name, in their order and with the last one first.
func (c *core) readings(run []word) (s otherScript, ok bool) {
	var letters []string
	for _, w := range run {
		letters = append(letters, w.text)
	}
	orders := []string{strings.Join(letters, "")}
	if n := len(letters); n > 1 {
		orders = append(orders, letters[n-1]+strings.Join(letters[:n-1], ""))
	}
	for _, o := range orders {
		for _, way := range names.Readings(o) {
			if terms, speaker := c.written(way); len(terms) > 0 {
				for _, t := range terms {
					if !slices.Contains(s.terms, t) {
						s.terms = append(s.terms, t)
					}
				}
				s.speaker = max(s.speaker, speaker)
				ok = true
			}
		}
	}
	return s, ok
}

// written returns the pairs that a reading has in documents, if every pair of neighbouring
// characters is in one, and the speaker with this name.
func (c *core) written(way [][]rune) (out []weighted, speaker uint32) {
	const most = 64 // names that one reading may stand for
	var known []string
	for _, r := range way[0] {
		known = append(known, string(r))
	}
	for _, next := range way[1:] {
		var longer []string
		for _, name := range known {
			last := []rune(name)
			for _, r := range next {
				if len(longer) < most && len(c.found(string(last[len(last)-1:])+string(r), 1)) > 0 {
					longer = append(longer, name+string(r))
				}
			}
		}
		known = longer
	}
	for _, name := range known {
		out = append(out, c.chinese(name)...)
		if n := c.speaks(foldName(name)); n != none {
			speaker = n
		}
	}
	return out, speaker
}
