package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// PlanForget implements serve.Forgetter. It waits until what was taken is
// worked through: what is not there yet can't be shown.
func (n *Node) PlanForget(ctx context.Context, s serve.ForgetSelection) (plan serve.ForgetPlan, err error) {
	if err := n.settled(ctx); err != nil {
		return plan, err
	}
	plan.Memories, plan.Utterances = []serve.Related{}, []serve.Related{}
	err = n.view(ctx, func(_ *opened, tx *store.Tx) error {
		pick := newPick(tx)
		switch {
		case s.Last > 0:
			plan.To = time.Now()
			plan.From = plan.To.Add(-time.Duration(s.Last))
			err = pick.span(plan.From, plan.To)
		case len(s.IDs) > 0:
			err = pick.ids(s.IDs)
		default:
			err = pick.words(s.Query)
		}
		if err == nil {
			err = pick.cascade()
		}
		if err != nil {
			return err
		}
		for _, m := range pick.memories {
			plan.Memories = append(plan.Memories, serve.Related{ID: m.ID, Text: m.Text, At: extract.WhenOf(m)})
			if f := m.Fields.Resource; f != nil && f.Blob != "" {
				plan.Bytes += blobSize(tx, f.Blob)
			}
		}
		for _, u := range pick.utterances {
			plan.Utterances = append(plan.Utterances, serve.Related{ID: u.ID, Text: u.Text, At: u.At})
		}
		slices.SortFunc(plan.Memories, byTime)
		slices.SortFunc(plan.Utterances, byTime)
		plan.Events = len(pick.events)
		return nil
	})
	return plan, err
}

func byTime(a, b serve.Related) int { return a.At.Compare(b.At) }

func blobSize(tx *store.Tx, name string) int64 {
	id, err := memory.ParseID(name)
	if err != nil {
		return 0
	}
	r, err := tx.OpenBlob(id)
	if err != nil {
		return 0
	}
	defer r.Close()
	return r.Size()
}

// pick collects what is to be forgotten.
type pick struct {
	tx         *store.Tx
	memories   map[memory.ID]*memory.Memory
	utterances map[memory.ID]*memory.Utterance
	events     map[memory.EventID]bool
}

func newPick(tx *store.Tx) *pick {
	return &pick{tx, map[memory.ID]*memory.Memory{}, map[memory.ID]*memory.Utterance{}, map[memory.EventID]bool{}}
}

// span picks what was said, happened or was learnt in a span of time.
func (p *pick) span(from, to time.Time) error {
	within := func(t time.Time) bool { return !t.Before(from) && t.Before(to) }
	for u, err := range p.tx.Utterances(time.Time{}, time.Time{}) {
		if err != nil {
			return err
		}
		if within(u.At) || within(u.Received) {
			p.utterance(u)
		}
	}
	for m, err := range p.tx.Memories(store.Filter{}) {
		if err != nil {
			return err
		}
		if within(extract.WhenOf(m)) || within(m.Learnt) {
			p.memory(m)
		}
	}
	return nil
}

func (p *pick) ids(ids []memory.ID) error {
	for _, id := range ids {
		u, err := p.tx.Utterance(id)
		if err == nil {
			p.utterance(u)
			continue
		}
		if !errors.Is(err, memory.ErrNotFound) {
			return err
		}
		m, err := live(p.tx, id)
		if err != nil {
			return err
		}
		p.memory(&m)
	}
	return nil
}

// words picks what holds every word of a query.
func (p *pick) words(query string) error {
	words := strings.Fields(memory.Normal(query))
	if len(words) == 0 {
		return fmt.Errorf("%w: query: no words in it", memory.ErrInvalid)
	}
	has := func(text string) bool {
		text = " " + memory.Normal(text) + " "
		for _, w := range words {
			if !strings.Contains(text, " "+w+" ") && !(w[0] >= 0x80 && strings.Contains(text, w)) {
				return false
			}
		}
		return true
	}
	for u, err := range p.tx.Utterances(time.Time{}, time.Time{}) {
		if err != nil {
			return err
		}
		if has(u.Text) {
			p.utterance(u)
		}
	}
	for m, err := range p.tx.Memories(store.Filter{}) {
		if err != nil {
			return err
		}
		if has(wordsOf(m)) {
			p.memory(m)
		}
	}
	return nil
}

// wordsOf is everything of a memory that recall can find it by.
func wordsOf(m *memory.Memory) string {
	s := []string{m.Text, strings.Join(m.Tags, " ")}
	for _, e := range m.Evidence {
		s = append(s, e.Excerpt)
	}
	for _, e := range m.Entities {
		s = append(s, e.Name)
	}
	if f := m.Fields.Procedural; f != nil {
		s = append(append(s, f.Description), f.Steps...)
	}
	if f := m.Fields.Resource; f != nil {
		s = append(s, f.Title, f.Content)
	}
	if f := m.Fields.Episodic; f != nil {
		s = append(s, f.Details, f.Place, f.Actor)
	}
	return strings.Join(s, "\n")
}

func (p *pick) memory(m *memory.Memory) {
	p.memories[m.ID] = m
}

func (p *pick) utterance(u *memory.Utterance) {
	p.utterances[u.ID] = u
	p.events[u.Event] = true
}

// cascade picks the memories that quote an utterance which is to go. One that
// has evidence elsewhere as well goes too: its text may be from either.
func (p *pick) cascade() error {
	if len(p.utterances) == 0 {
		return nil
	}
	for m, err := range p.tx.Memories(store.Filter{}) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return p.utterances[e.Utterance] != nil }) {
			p.memory(m)
		}
	}
	return nil
}

// Forget implements serve.Forgetter. What the journal still holds of events
// that are worked through goes too.
func (n *Node) Forget(ctx context.Context, p serve.ForgetPlan) (res serve.ForgetResult, err error) {
	defer func() {
		if err == nil {
			err = n.journal.Rotate() // whole segments can be let go of then
		}
	}()
	o, release, err := n.use()
	if err != nil {
		return res, err
	}
	defer release()
	var t store.Targets
	for _, m := range p.Memories {
		t.Memories = append(t.Memories, m.ID)
	}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		for _, u := range p.Utterances {
			got, err := tx.Utterance(u.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			t.Utterances, t.Events = append(t.Utterances, u.ID), append(t.Events, got.Event)
		}
		return nil
	})
	if err != nil {
		return res, err
	}
	if err := o.forget(ctx, t); err != nil {
		return res, err
	}
	return serve.ForgetResult{Memories: len(t.Memories), Utterances: len(t.Utterances), Events: len(t.Events)}, nil
}

// forgetPage is how many records one transaction erases.
const forgetPage = 50

// forget erases: from the records, the index and its segments, and from what
// lies in old versions of files.
func (o *opened) forget(ctx context.Context, t store.Targets) error {
	o.writing.Lock()
	defer o.writing.Unlock()
	o.extract.Forget(t.Utterances)
	for ids := range slices.Chunk(t.Memories, forgetPage) {
		if err := o.erase(ctx, ids); err != nil {
			return err
		}
	}
	for us := range slices.Chunk(t.Utterances, forgetPage) {
		if err := o.drop(ctx, store.Targets{Utterances: us}); err != nil {
			return err
		}
	}
	if err := o.drop(ctx, store.Targets{Events: t.Events}); err != nil {
		return err
	}
	if err := o.flushLocked(ctx); err != nil { // segments that held what is gone are written anew
		return err
	}
	return o.store.Compact(ctx)
}

// erase says of memories that they are to be forgotten, and forgets them.
func (o *opened) erase(ctx context.Context, ids []memory.ID) error {
	_, err := o.commit(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			dot, err := tx.NextDot(o.ring.Member())
			if err != nil {
				return err
			}
			_, err = tx.Assert(memory.Assertion{Dot: dot, Clock: o.clock.Tick(), Rank: memory.RankPerson, Space: o.ring.Space(), Memory: id,
				Act: memory.ActErase, Source: memory.Source{Plugin: "person"}})
			if err != nil {
				return err
			}
		}
		if err := tx.Erase(store.Targets{Memories: ids}); err != nil {
			return err
		}
		for _, id := range ids { // that it was there, and is not any more, is all that is left to tell
			err := tx.Note(memory.Change{Memory: id, Verdict: memory.Delete, At: time.Now().UTC(), By: memory.Source{Plugin: "person"},
				Rank: memory.RankPerson, Reason: "erased by the wearer"})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (o *opened) drop(ctx context.Context, t store.Targets) error {
	_, err := o.commit(ctx, func(tx *store.Tx) error { return tx.Erase(t) })
	return err
}
