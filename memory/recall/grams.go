package recall

// gramTable finds terms with similar spelling: for each run of four letters, it has the terms that
// contain it. Words of up to three letters, of more than 24, and those of other scripts are not in
// it.
type gramTable struct {
	lists map[uint32][]uint32
}

func newGramTable() *gramTable { return &gramTable{lists: map[uint32][]uint32{}} }

func (g *gramTable) add(t uint32, s string) {
	eachGram(s, func(gram uint32) {
		l := g.lists[gram]
		if n := len(l); n == 0 || l[n-1] != t {
			g.lists[gram] = append(l, t)
		}
	})
}

// gramsLeast is how many grams the shortest word has.
const gramsLeast = 3

// eachGram calls f with the grams of ^s$.
func eachGram(s string, f func(uint32)) {
	if len(s) < 4 || len(s) > 24 {
		return
	}
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return
		}
	}
	gram := uint32('^')
	for i := 0; i <= len(s); i++ {
		c := byte('$')
		if i < len(s) {
			c = s[i]
		}
		gram = gram<<8 | uint32(c)
		if i >= 2 {
			f(gram)
		}
	}
}
