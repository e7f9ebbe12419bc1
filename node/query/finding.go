package query

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// finding is a search whose hits are being read.
type finding struct {
	qr     *Query
	r      *serve.SearchRequest
	q      *recall.Query
	choice *chooser
	res    *serve.SearchResult
	alone  []float64                 // by hit: how much of the question it covers on its own, 0 to 1
	past   map[memory.ID][]memory.ID // superseded memories of the utterances that are hits, by utterance
}

// add reads a hit of the index and adds it to the result. It adds nothing if the document was
// erased since, does not pass the filter, or is in the result already.
func (f *finding) add(tx *store.Tx, h recall.Hit) error {
	hit, ok, err := f.choice.load(tx, h)
	if err != nil {
		return err
	}
	if hit.Cold {
		if !f.choice.narrows() { // otherwise the memory has become cold since the index was asked
			f.res.Hits, f.res.Missing, f.alone = append(f.res.Hits, hit), f.res.Missing+1, append(f.alone, h.Alone)
		}
		return nil
	}
	if ok && hit.Memory != nil && hit.Memory.Expired(f.choice.now) {
		f.choice.gone[h.ID] = true
		return nil
	}
	if ok && hit.Memory != nil {
		hit, ok, err = f.memory(tx, h, hit)
	}
	if err != nil || !ok {
		return err
	}
	f.res.Hits, f.alone = append(f.res.Hits, hit), append(f.alone, h.Alone)
	if len(h.Past) > 0 && !f.q.Past {
		f.past[hit.ID] = h.Past
	}
	return nil
}

// A note is minor if it covers less of the question than noteAlone of what the best hit covers.
// Only its own words count, because the notes before and after it may be about anything. The value
// was set by hand, with homes that have a few typed lines.
const noteAlone = .4

// markTyped marks hits that the wearer typed as minor if they cover too little of the question on their own.
func (f *finding) markTyped() {
	if len(f.alone) == 0 {
		return
	}
	least := noteAlone * slices.Max(f.alone)
	for i, alone := range f.alone {
		if h := &f.res.Hits[i]; alone < least && f.qr.typed(h) {
			h.Minor = true
		}
	}
}

// typed reports whether the wearer typed what a hit says. If a program adds a conversation line by
// line, the wearer's lines in it count as typed.
func (qr *Query) typed(h *serve.Hit) bool {
	return len(h.Evidence) > 0 && h.Evidence[0].Event.Device == serve.APIDevice && h.Evidence[0].Speaker == qr.c.Wearer
}

// memory completes a hit that is a memory. If the hit is a line of a core block that copies a
// memory, that memory takes its place. If the request asks for another time, the hit shows what was
// believed then.
func (f *finding) memory(tx *store.Tx, h recall.Hit, hit serve.Hit) (_ serve.Hit, ok bool, err error) {
	choice := f.choice
	if choice.then.isNow() && !choice.matches(f.qr, hit.Memory) {
		return hit, false, nil
	}
	if of, copied := consolidate.Copied(hit.Memory); copied && !slices.Contains(f.r.Types, memory.Core) {
		h.ID, h.Source = of, memory.ID{}
		if hit, ok, err = choice.load(tx, h); err != nil {
			return hit, false, err
		}
		if !ok || hit.Memory == nil || hit.Memory.State != memory.Active || hit.Memory.Expired(choice.now) || choice.narrows() && !choice.allows(f.qr, tx, of, recall.Memory) {
			return hit, false, nil
		}
	}
	if slices.ContainsFunc(f.res.Hits, func(o serve.Hit) bool { return o.ID == hit.ID }) {
		return hit, false, nil
	}
	was, err := choice.then.believed(tx, hit.Memory)
	if err != nil || was == nil {
		return hit, false, err
	}
	hit.Memory, hit.Text, hit.Evidence = was, was.Text, was.Quotes()
	if hit.Memory.Categories == nil && !choice.bare {
		hit.Memory.Categories = f.qr.c.Sorter.Of(hit.Memory)
	}
	return hit, true, nil
}

// addReplacing ranks hits whose memories are superseded below the memories that replace them, and
// adds those memories if they are missing.
func (f *finding) addReplacing(tx *store.Tx, k int) error {
	if len(f.past) == 0 {
		return nil
	}
	if err := saidAgain(tx, f.res.Hits, f.past); err != nil {
		return err
	}
	bring := func(m *memory.Memory, score float64) (hit serve.Hit, ok bool, err error) {
		if f.r.Only == serve.OnlyUtterances || len(f.r.Types) > 0 && !slices.Contains(f.r.Types, m.Type) || f.choice.narrows() && !f.choice.allows(f.qr, tx, m.ID, recall.Memory) {
			return hit, false, nil
		}
		hit, ok, err = f.choice.load(tx, recall.Hit{ID: m.ID, Kind: recall.Memory, At: m.When(), Score: score})
		if ok = ok && !m.Expired(f.choice.now); ok {
			hit.Memory.Categories = f.qr.c.Sorter.Of(hit.Memory)
		}
		return hit, ok, err
	}
	var err error
	f.res.Hits, err = demote(tx, f.res.Hits, f.past, k, f.r.Sees, bring)
	return err
}
