package recall

import "slices"

// wider is how a candidate matches beside BM25: see docs/recall.md. All are 0 to 1.
type wider struct {
	alone   float32 // own match, before it is divided; best of its session afterwards
	covered float32 // share of the question's words, by idf, that it and its context hold
	heard   float32 // the same, of what its session holds
	groups  [maxGroups/64 + 1]uint64
}

// widen computes covered and alone of a candidate from its rows, and which
// groups it holds itself.
func (r *ranking) widen(c *candidate, own, sum []float32, alone float32) {
	asked, held := float32(0), float32(0)
	for g := range r.ask.groups {
		k := &r.ask.groups[g]
		if k.signal != sigMatch {
			continue
		}
		worth := float32(k.weight * k.idf)
		asked += worth
		if sum[g] > 0 {
			held += worth
		}
		if own[g] > 0 {
			c.alone += worth * r.saturate(own[g], alone)
			c.groups[g/64] |= 1 << (g % 64)
		}
	}
	c.covered = part(held, asked)
}

// sessions computes for every candidate what its session has: the best match of
// one of its turns, and the share of the question's words that are in them. It
// knows of the session's turns those that are candidates, which are those that
// match.
func (r *ranking) sessions() {
	list := r.s.list
	if len(list) == 0 {
		return
	}
	at := map[uint32]int{}
	var all []wider
	of := make([]int, len(list))
	best := float32(0)
	for i := range list {
		c := &list[i]
		n, ok := at[r.docs[c.doc].session]
		if !ok || r.docs[c.doc].session == 0 {
			n = len(all)
			at[r.docs[c.doc].session] = n
			all = append(all, wider{})
		}
		of[i] = n
		s := &all[n]
		s.alone = max(s.alone, c.alone)
		for w, b := range c.groups {
			s.groups[w] |= b
		}
		best = max(best, c.alone)
	}
	for n := range all {
		s := &all[n]
		asked := float32(0)
		for g := range r.ask.groups {
			k := &r.ask.groups[g]
			if k.signal != sigMatch {
				continue
			}
			worth := float32(k.weight * k.idf)
			asked += worth
			if s.groups[g/64]>>(g%64)&1 != 0 {
				s.heard += worth
			}
		}
		s.heard = part(s.heard, asked)
		s.alone = part(s.alone, best)
	}
	for i := range list {
		list[i].alone, list[i].heard = all[of[i]].alone, all[of[i]].heard
	}
}

// asksSeveral reports whether a question asks for several things: "what
// activities does she like", "which books have both read".
func asksSeveral(words []word) bool {
	if slices.ContainsFunc(words, func(w word) bool { return w.text == "both" || w.text == "哪些" }) {
		return true
	}
	if len(words) < 3 || words[0].text != "what" && words[0].text != "which" {
		return false
	}
	for i := 1; i <= 2 && i+1 < len(words); i++ {
		if t := words[i].text; len(t) > 3 && t[len(t)-1] == 's' && t[len(t)-2] != 's' && !words[i].stop && auxiliaries[words[i+1].text] {
			return true
		}
	}
	return false
}

var auxiliaries = set(`do does did has have had is are was were`)
