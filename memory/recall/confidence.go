package recall

import (
	"slices"
)

// Unsure is the confidence below which the answer is "I don't know": see
// docs/recall.md for how often that is right.
const Unsure = .37

// How much a group counts for confidence if the hit has it in place of the
// question's own word. A word of the same topic counts little, because other
// people's lives are about the same topics.
const (
	shareMended  = .8
	shareSpelt   = .6
	shareLexicon = .1
	shareRelated = .8 // "my sister's husband" in place of Tom
	// shareBare is the share for a word of the same topic if the wearer asks
	// only for their own things of that topic: "what are my hobbies", and the
	// memory says pottery.
	shareBare = .6
)

// shareAround is how much the context counts beside the hit itself, at −2, −1,
// +1 and +2.
var shareAround = [4]float32{.4, .7, .7, .4}

// shareOther is the factor for a line of another speaker than the one whom the question names, if
// the line doesn't name that person: what Ben did says nothing about Ana. A line beside the hit
// counts in full if it is a question, because the hit may be its answer.
const shareOther = .5

// Ben says "I won the cup", and Ana says "Wow, that's great!". Then the cup is Ben's, and Ana's line
// does not answer a question about Ana. If Ben's line covers more of the question than each line of
// Ana's, by more than leadOther, the confidence is multiplied by shareLed.
const (
	leadOther = .25
	shareLed  = .7
)

// If a hit lacks one of the words of a short yes-or-no question (see whether), or has only the relative
// or only the thing of a question about a relative's thing (see thingOf), its confidence is multiplied
// by shareApart.
const shareApart = .5

// shareUndated is the factor for a hit if the question asks when, and neither the hit nor
// the turns beside it name a time. It still has the day on which it was said. Chinese questions are
// excepted: it was measured on English lines, and 早上 is not among the times that are recognised.
const shareUndated = .7

// shareOnlyTime is the factor for a hit that has nothing of the question but the time that it names,
// if the question names something else, too.
const shareOnlyTime = .4

// shareUncounted is the factor for a hit if the question asks for a number, and neither the hit nor the turns
// beside it have one.
const shareUncounted = .3

// shareStranger is the factor for the confidence of a question about somebody
// or something that no document names.
const shareStranger = .5

// confidence returns the confidence of the first hits, at most three. It is how
// much of the question the best of them covers.
func (r *ranking) confidence(hits []uint32) float64 {
	if r.ask.asks <= 0 {
		return 0
	}
	most := 0.0
	for _, d := range hits {
		most = max(most, r.covered(d))
	}
	if r.ask.stranger {
		most *= shareStranger
	}
	if r.ask.speaker != 0 && r.ledByOther() {
		most *= shareLed
	}
	return most
}

// ledByOther reports whether a line of a speaker other than the named one covers more of the
// question, by more than leadOther, than each line of the named one. Questions are not counted, and
// neither are the lines beside a line.
func (r *ranking) ledByOther() bool {
	var most [2]float64 // of the named speaker's lines, of the others'
	best := make([]float32, len(r.ask.worth))
	for _, o := range r.s.order {
		d := r.s.list[uint32(o)].doc
		if r.docs[r.anchor(d)].flags&flagQuestion != 0 {
			continue
		}
		clear(best)
		r.tally(best, d, 1)
		share := r.worthOf(best)
		if share <= min(most[0], most[1]) {
			continue
		}
		whose := 0
		if r.ofOther(d) {
			whose = 1
		}
		if share > most[whose] && !r.doubtful(d) {
			most[whose] = share
		}
	}
	return most[1]-most[0] > leadOther
}

// A hit is minor if one of these holds:
//   - It and the lines beside it cover less than minorCovers of what the best hit covers with the
//     lines beside it.
//   - Its score is below minorScore of the first one's.
//   - The first hit covers at least firstCovers of the question on its own, and this one on its own
//     less than minorAlone.
//   - The confidence of the answer is below unrelated.
//
// A person is shown only the hits that are not minor. On LoCoMo these are 7.4 of 10 lines, with
// 68.5 of 70.3 % of the evidence (docs/recall.md).
const (
	minorCovers = .3
	minorScore  = .55
	firstCovers = .9
	minorAlone  = .3
	unrelated   = .1 // below it are 0.1 % of the LoCoMo questions whose evidence was found, and 8.9 % of those about another life
)

// share is how much of the question a hit covers, 0 to 1: by itself, and with the lines beside it.
type share struct{ alone, beside float64 }

// says returns how much a document covers, together with the utterance that it quotes. A document
// that a model found near in meaning counts in full.
func (r *ranking) says(d uint32) share {
	if r.embeds[d] > 0 {
		return share{1, 1}
	}
	if r.ask.asks <= 0 {
		return share{}
	}
	best := make([]float32, len(r.ask.worth))
	r.cover(best, d, 1)
	if a := r.anchor(d); a != d {
		r.cover(best, a, 1)
	}
	return share{r.worthOf(best), r.covered(d)}
}

// minor marks the hits that are minor, given what each covers.
func minor(hits []Hit, says []share, confidence float64) {
	most := 0.0
	for _, s := range says {
		most = max(most, s.beside)
	}
	for i, s := range says {
		hits[i].Alone = s.alone
		hits[i].Minor = s.beside < minorCovers*most || hits[i].Score < minorScore*hits[0].Score ||
			says[0].alone >= firstCovers && s.alone < minorAlone || confidence < unrelated && s.alone < 1
	}
}

// covered returns the share of the question, 0 to 1, weighted by idf, that a document and its
// context cover.
func (r *ranking) covered(d uint32) float64 {
	best := make([]float32, len(r.ask.worth))
	dated := r.docs[d].flags&flagTime != 0
	share := float32(1)
	if r.ofOther(d) {
		share = shareOther
	}
	r.cover(best, d, share)
	own := r.worthOf(best) > 0
	counted := r.q.Counts == nil || r.q.Counts(r.docs[d].id, !own)
	for i, n := range r.around(r.anchor(d)) {
		if n == none {
			continue
		}
		share := shareAround[i]
		if r.docs[n].flags&flagQuestion == 0 && r.ofOther(n) {
			share *= shareOther
		}
		r.cover(best, n, share)
		dated = dated || (i == 1 || i == 2) && r.docs[n].flags&flagTime != 0
		counted = counted || own && (i == 1 || i == 2) && r.q.Counts(r.docs[n].id, true)
	}
	sum := r.worthOf(best)
	if r.hasOnlyTime(best) {
		sum *= shareOnlyTime
	}
	if r.lacksThing(best) {
		sum *= shareApart
	}
	if len(r.ask.whether) > 0 && (r.doubtful(d) || slices.ContainsFunc(r.ask.whether, func(word int) bool { return !r.speaksOf(d, word) })) {
		sum *= shareApart
	}
	if r.ask.shape == When && !dated && !r.ask.han {
		sum *= shareUndated
	}
	if !counted {
		sum *= shareUncounted
	}
	return sum
}

// hasOnlyTime reports whether best counts only the time that the question names, although the question
// has other words, too.
func (r *ranking) hasOnlyTime(best []float32) bool {
	if r.ask.dated || r.ask.time < 0 || best[r.ask.time] == 0 {
		return false
	}
	for i, v := range best {
		if i != r.ask.time && v > 0 && r.ask.worth[i] > 0 {
			return false
		}
	}
	return true
}

// lacksThing reports whether a question asks for a thing of a relative, and best counts no word for the
// relative, or no word for the thing.
func (r *ranking) lacksThing(best []float32) bool {
	return len(r.ask.thing) > 0 && (best[r.ask.relative] <= shareLexicon || !slices.ContainsFunc(r.ask.thing, func(w int) bool { return best[w] > shareLexicon }))
}

// speaksOf reports whether a document, or the utterance that it quotes, has a word of the question,
// or a word of a topic that only this word names.
func (r *ranking) speaksOf(d uint32, word int) bool {
	row, of := r.row(d), r.row(r.anchor(d))
	for i := range r.ask.groups {
		if g := &r.ask.groups[i]; (row[i] > 0 || of[i] > 0) && slices.Contains(g.words, word) && (g.signal != sigLexicon || len(g.words) == 1) {
			return true
		}
	}
	return false
}

// cover does what tally does, but leaves out a document that is doubtful. This check takes longer
// than everything else here, so only documents that would add something are checked.
func (r *ranking) cover(best []float32, d uint32, share float32) {
	r.was = append(r.was[:0], best...)
	if r.tally(best, d, share); !slices.Equal(best, r.was) && r.doubtful(d) {
		copy(best, r.was)
	}
}

// tally writes into best how much each word of the question counts that a document has. If a word
// already counts more, that stays.
func (r *ranking) tally(best []float32, d uint32, share float32) {
	for g, n := range r.row(d) {
		if n == 0 {
			continue
		}
		k := &r.ask.groups[g]
		for _, w := range k.words {
			best[w] = max(best[w], share*k.share)
		}
	}
}

// doubtful reports whether a document says nothing about the person that the question asks about.
func (r *ranking) doubtful(d uint32) bool {
	return r.q.IsDoubtful != nil && r.q.IsDoubtful(r.docs[d].id) || r.ask.owned && !r.ofOwner(d) && r.q.TellsOfPerson(r.docs[d].id)
}

// worthOf adds up how much each word of the question counts, by idf. It is 1 if all count in full.
func (r *ranking) worthOf(shares []float32) float64 {
	sum := 0.0
	for w, v := range shares {
		sum += float64(v) * r.ask.worth[w]
	}
	return sum / r.ask.asks
}

// ofOther reports whether a document's speaker is not the person whom the question names, and
// neither the document nor the line before it, by somebody else, names that person: "I'll take
// Isla." "She needs her recorder." A question about the wearer is excepted, because others tell the
// wearer things about the wearer.
func (r *ranking) ofOther(d uint32) bool {
	asked, speaker := r.ask.speaker, r.docs[r.anchor(d)].speaker
	if asked == 0 || speaker == 0 || speaker == asked || r.names.text(asked) == foldName(r.q.Wearer) {
		return false
	}
	named := map[uint32]bool{}
	for _, w := range split(r.names.text(asked)) {
		if t := r.dict.find(w.term); r.has(t) && (!w.han || len([]rune(w.text)) > 1) {
			named[t] = true
		}
	}
	names := func(d uint32) bool {
		for t := range r.terms(d) {
			if named[t] {
				return true
			}
		}
		return false
	}
	if names(d) {
		return false
	}
	before := r.around(r.anchor(d))[1]
	return before == none || r.docs[before].speaker == asked || !names(before)
}

// ofOwner reports whether a document, or the utterance that it quotes, names the owner that the
// question asks about, or was said by them.
func (r *ranking) ofOwner(d uint32) bool {
	a := r.anchor(d)
	for _, g := range r.ask.owner {
		if r.row(d)[g] > 0 || r.row(a)[g] > 0 {
			return true
		}
	}
	speaker := r.docs[a].speaker
	return speaker != 0 && slices.Contains(r.ask.ownerSpeaks, speaker)
}
