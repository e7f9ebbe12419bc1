package recall

import "slices"

// wider is how a candidate matches besides BM25: see docs/recall.md. All values are 0 to 1.
type wider struct {
	alone   float32 // its own match, before it is divided; the best of its session afterwards
	covered float32 // share of the question's words, by idf, that it and its context have
	heard   float32 // the same for its session
	groups  [maxGroups/64 + 1]uint64
}

// longLine bounds aloneLength of a memory, in mean lengths: a memory of half an hour of talk is not
// judged by all of it.
const longLine = 2

// aloneLength returns the length of a document divided by the mean. A memory counts as long as the
// line that it was taken from: it repeats a part of it, so being shorter makes it no better a match
// than the lines around it, which have no memory.
func (r *ranking) aloneLength(d, anchor uint32, mean float32) float32 {
	own := float32(r.docs[d].length) / mean
	if d == anchor || r.docs[anchor].kind() != Utterance {
		return own
	}
	return max(own, min(float32(r.docs[anchor].length)/mean, longLine))
}

// matches computes worth and asked from the question's groups.
func (r *ranking) matches() {
	for g := range r.ask.groups {
		if k := &r.ask.groups[g]; k.signal == sigMatch {
			r.worth[g] = float32(k.weight * k.idf)
			r.asked += r.worth[g]
		}
	}
}

// widen computes covered and alone of a candidate from its rows, and which groups it has itself.
func (r *ranking) widen(c *candidate, own, sum []float32, alone float32) {
	held := float32(0)
	for g := range sum {
		worth := r.worth[g]
		if worth == 0 {
			continue
		}
		if sum[g] > 0 {
			held += worth
		}
		if own[g] > 0 {
			c.alone += worth * r.saturate(own[g], alone)
			c.groups[g/64] |= 1 << (g % 64)
		}
	}
	c.covered = part(held, r.asked)
}

// sessions computes, for every candidate, what its session has: the best match of one of its turns,
// and the share of the question's words in its turns. Of the session's turns, it knows only the
// candidates, which are those that match.
func (r *ranking) sessions() {
	list := r.s.list
	if len(list) == 0 {
		return
	}
	at := map[uint32]int{}
	var all []wider
	of := make([]int, len(list))
	best := float32(0)
	n, last := 0, uint32(0)
	for i := range list {
		c := &list[i]
		session := r.docs[c.doc].session
		if i == 0 || session == 0 || session != last { // neighbours follow each other in the list
			known, ok := at[session]
			if !ok || session == 0 {
				known = len(all)
				at[session] = known
				all = append(all, wider{})
			}
			n, last = known, session
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
		for g := range r.ask.groups {
			if s.groups[g/64]>>(g%64)&1 != 0 {
				s.heard += r.worth[g]
			}
		}
		s.heard = part(s.heard, r.asked)
		s.alone = part(s.alone, best)
	}
	for i := range list {
		list[i].alone, list[i].heard = all[of[i]].alone, all[of[i]].heard
	}
}

// wide returns by how much a candidate's match is changed because of the values in wider and of
// what the question asks for.
func (r *ranking) wide(c *candidate) float64 {
	v := r.w.Session*float64(c.alone) + r.w.Heard*float64(c.heard) + r.w.Covered*float64(c.covered)
	if r.ask.several {
		v -= r.w.Several * float64(c.raw[sigMatch])
	}
	return v
}

// surest returns the three documents by which confidence is judged: the best ones without the
// values in wider. A session with the question's words leads to the answer, but it also has these
// words if nobody gave the answer.
func (r *ranking) surest() []uint32 {
	type sure struct {
		doc, anchor uint32
		score       float64
	}
	first := make([]sure, 0, 4)
	for _, o := range r.s.order {
		c := &r.s.list[uint32(o)]
		if r.ask.strict && c.quoted < 1 {
			continue
		}
		s := sure{c.doc, r.anchor(c.doc), c.total - r.wide(c)}
		if i := slices.IndexFunc(first, func(o sure) bool { return o.anchor == s.anchor }); i >= 0 {
			if first[i].score >= s.score {
				continue
			}
			first = slices.Delete(first, i, i+1)
		}
		at := slices.IndexFunc(first, func(o sure) bool { return o.score < s.score })
		if at < 0 {
			at = len(first)
		}
		first = slices.Insert(first, at, s)
		first = first[:min(3, len(first))]
	}
	out := make([]uint32, len(first))
	for i, s := range first {
		out[i] = s.doc
	}
	return out
}

// asksSeveral reports whether a question asks for several things: "what activities does she like",
// "which books have both read".
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
