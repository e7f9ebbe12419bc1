package query

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/store"
)

// overview has what lists, counts, days and the graph need of all memories, without
// their texts: 100,000 memories take about 20 MB. It is made when it is first needed,
// then follows the log of documents, and is dropped when nobody has used it for a
// while. Its methods are safe for concurrent use.
type overview struct {
	sorter *category.Sorter
	now    func() time.Time

	lock  chan struct{} // of capacity one; a send locks the fields below, a receive unlocks them
	of    store.Edition
	by    map[memory.ID]*outline     // nil: nothing was read yet
	order []*outline                 // by the time when they were learnt; nil: to be sorted
	types map[memory.Type]int        // how many are active, by type
	waits int                        // how many of these wait for a transcript
	from  map[string]string          // names of plugins, each once
	slots map[[2]string]*memory.Slot // by subject and attribute, each once
	names uint64                     // counts changes of what the graph is drawn from
	atlas *atlas.Atlas               // drawn when names had its value; nil: not yet
	twice []memory.ID                // what Disputable found; nil: to be computed
	ends  map[memory.ID]time.Time    // when those of by expire that have an expiry
	next  time.Time                  // the earliest of ends; zero: there is none
	goes  *time.Timer                // drops the overview when nobody has used it for a while
}

// outline is what is known of one memory.
type outline struct {
	id         memory.ID
	typ        memory.Type
	state      memory.State
	group      uint64 // a hash of the group's name
	pinned     bool
	disputed   bool // it has a conflict
	confidence float64
	plugin     string // the plugin that it is from; one string for all of them
	negates    bool
	plan       bool // it is something that the wearer, or somebody else, plans to do
	waits      bool // for a transcript
	learnt     time.Time
	categories []string
	slot       *memory.Slot   // without its value; shared by all of them; nil: it has none
	heard      []int64        // times of its evidence, in ms since 1970
	started    int64          // of an episode: when it begins, in ms since 1970; 0: it does not say
	named      *memory.Memory // the parts that the graph and a filter by names read; nil: it names nothing
}

var seed = maphash.MakeSeed()

// overviewRests is how long an unused overview is kept.
const overviewRests = 10 * time.Minute

// outlineOf makes the outline of a memory.
func (o *overview) outlineOf(m *memory.Memory) *outline {
	out := &outline{id: m.ID, group: maphash.String(seed, m.Group), pinned: m.Pinned, disputed: m.Conflict != nil, confidence: m.Confidence, plugin: o.plugin(m.Source.Plugin), typ: m.Type, state: m.State, negates: m.Negates, waits: slices.Contains(m.Tags, memory.WaitingTag), learnt: m.Learnt, categories: o.sorter.Of(m)}
	if i := slices.Index(memory.Types[:], m.Type); i >= 0 {
		out.typ = memory.Types[i] // one string for all
	}
	out.slot = o.slot(m.Slot)
	for _, e := range m.Evidence {
		out.heard = append(out.heard, e.At.UnixMilli())
	}
	if f := m.Fields.Episodic; f != nil {
		out.plan = slices.Contains(planned, f.EventType)
		if !f.Started.IsZero() {
			out.started = f.Started.UnixMilli()
		}
	}
	if len(m.Entities) == 0 && !m.Fields.Semantic.Relation() {
		return out
	}
	slim := memory.Memory{ID: m.ID, Rank: m.Rank, State: m.State, Pinned: m.Pinned, Learnt: m.Learnt, Unlearnt: m.Unlearnt, Repeats: m.Repeats,
		Candidate: memory.Candidate{Type: m.Type, Slot: out.slot, Negates: m.Negates, Fields: memory.Fields{Semantic: m.Fields.Semantic}, Entities: m.Entities, Tags: m.Tags,
			Source: memory.Source{Plugin: m.Source.Plugin}, Confidence: m.Confidence, Sensitivity: m.Sensitivity, TrueFrom: m.TrueFrom, TrueTo: m.TrueTo}}
	if m.Fields.Semantic.Relation() || slices.Contains(m.Tags, atlas.TagCommunity) {
		slim.Text = m.Text
	}
	out.named = &slim
	return out
}

// plugin returns the one string that all memories of a plugin share.
func (o *overview) plugin(name string) string {
	if _, ok := o.from[name]; !ok {
		o.from[name] = name
	}
	return o.from[name]
}

// slot returns the one slot without a value that all memories of that slot share.
func (o *overview) slot(s *memory.Slot) *memory.Slot {
	if s == nil {
		return nil
	}
	key := [2]string{s.Subject, s.Attribute}
	if o.slots[key] == nil {
		o.slots[key] = &memory.Slot{Subject: s.Subject, Attribute: s.Attribute}
	}
	return o.slots[key]
}

// active returns the active memories of a type, without denials; the empty type means
// any. The caller holds the lock.
func (o *overview) active(typ memory.Type) iter.Seq[*outline] {
	return func(yield func(*outline) bool) {
		for _, l := range o.by {
			if l.state == memory.Active && !l.negates && (typ == "" || l.typ == typ) && !yield(l) {
				return
			}
		}
	}
}

// look brings the overview up to the state that tx sees, and calls f under the lock. If
// an earlier look came from a transaction that sees more, f may find memories that tx
// does not see yet.
func (o *overview) look(ctx context.Context, tx *store.Tx, f func() error) error {
	if err := o.acquire(ctx); err != nil {
		return err
	}
	defer o.release()
	if o.goes == nil {
		o.goes = time.AfterFunc(overviewRests, func() { _ = o.drop(context.Background()) }) // which never ends
	}
	o.goes.Reset(overviewRests)
	if err := o.follow(ctx, tx); err != nil {
		return err
	}
	o.expire()
	return f()
}

// acquire takes the lock, unless ctx ends first: somebody else may be reading all
// memories.
func (o *overview) acquire(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case o.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *overview) release() { <-o.lock }

// drop drops the whole overview.
func (o *overview) drop(ctx context.Context) error {
	if err := o.acquire(ctx); err != nil {
		return err
	}
	defer o.release()
	o.clear()
	o.names++ // so an atlas that is being drawn now is not kept
	return nil
}

// clear drops everything that was read of memories. The caller holds the lock.
func (o *overview) clear() {
	o.by, o.order, o.types, o.from, o.slots, o.atlas, o.twice = nil, nil, nil, nil, nil, nil, nil
	o.waits, o.ends, o.next = 0, nil, time.Time{}
}

// close drops the overview for good. Nobody may use it any more.
func (o *overview) close() {
	ctx := context.Background()
	_, _ = o.drop(ctx), o.acquire(ctx) // it never ends
	defer o.release()
	if o.goes != nil {
		o.goes.Stop()
	}
}

// keepAtlas keeps an atlas for the next request, unless the names have changed meanwhile.
func (o *overview) keepAtlas(ctx context.Context, from uint64, a *atlas.Atlas) {
	if o.acquire(ctx) != nil {
		return // the request was cancelled
	}
	defer o.release()
	if o.by != nil && o.names == from {
		o.atlas = a
	}
}

func (o *overview) follow(ctx context.Context, tx *store.Tx) error {
	now, err := tx.Edition()
	if err != nil || o.by != nil && o.of == now {
		return err
	}
	if o.by == nil {
		err = o.begin(ctx, tx)
	} else {
		err = o.change(ctx, tx)
	}
	if err != nil {
		o.clear() // it has half of a change
		return err
	}
	o.of = now
	return nil
}

// begin reads all memories.
func (o *overview) begin(ctx context.Context, tx *store.Tx) error {
	o.by, o.types, o.from, o.waits = map[memory.ID]*outline{}, map[memory.Type]int{}, map[string]string{}, 0
	o.slots, o.ends = map[[2]string]*memory.Slot{}, map[memory.ID]time.Time{}
	for m, err := range tx.All() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		o.read(m)
	}
	return nil
}

// change reads what has changed.
func (o *overview) change(ctx context.Context, tx *store.Tx) error {
	changed, all, err := tx.ChangedSince(o.of)
	if err != nil {
		return err
	}
	read := func(id memory.ID) error {
		m, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) || err == nil && m.State == memory.Erased {
			o.replace(id, nil)
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		o.read(m)
		return nil
	}
	for _, d := range changed {
		if err := read(d.ID); err != nil {
			return err
		}
	}
	if all {
		return nil
	}
	hot := make(map[memory.ID]bool, len(o.by))
	for id := range tx.Hot() {
		hot[id] = true
		if o.by[id] == nil {
			if err := read(id); err != nil {
				return err
			}
		}
	}
	for id := range o.by {
		if !hot[id] {
			o.replace(id, nil)
		}
	}
	return nil
}

// replace replaces one outline; nil: the memory is gone.
func (o *overview) replace(id memory.ID, l *outline) {
	was := o.by[id]
	o.twice = nil
	delete(o.ends, id)
	o.count(was, -1)
	o.count(l, 1)
	if l != nil && l.named != nil || was != nil && was.named != nil {
		o.names++
		o.atlas = nil
	}
	if l == nil {
		if was != nil {
			delete(o.by, id)
			o.order = nil
		}
		return
	}
	if was == nil || !was.learnt.Equal(l.learnt) {
		o.by[id], o.order = l, nil
		return
	}
	*was = *l // it keeps its place in the order
}

// count adds n to the counts of which an active memory is part; nil: there is no
// memory.
func (o *overview) count(l *outline, n int) {
	if l == nil || l.state != memory.Active {
		return
	}
	if o.types[l.typ] += n; o.types[l.typ] == 0 {
		delete(o.types, l.typ)
	}
	if l.waits {
		o.waits += n
	}
}

// byLearnt returns all outlines, in the order in which they were learnt. The caller
// holds the lock.
func (o *overview) byLearnt() []*outline {
	if o.order == nil {
		o.order = slices.SortedFunc(maps.Values(o.by), compare)
	}
	return o.order
}

// compare orders outlines as the store orders memories.
func compare(a, b *outline) int {
	return cmp.Or(cmp.Compare(a.learnt.UnixMilli(), b.learnt.UnixMilli()), slices.Compare(a.id[:], b.id[:]))
}

// Disputable returns one memory of each group about which more than one thing was said.
// Callers must not change the list.
func (qr *Query) Disputable(ctx context.Context, tx *store.Tx) (ids []memory.ID, err error) {
	type said struct {
		n  int
		by memory.ID
	}
	o := &qr.overview
	err = o.look(ctx, tx, func() error {
		if o.twice != nil {
			ids = o.twice
			return nil
		}
		groups := make(map[uint64]said, len(o.by))
		for id, l := range o.by {
			g := groups[l.group]
			if g.n++; l.pinned || l.disputed { // one assertion of such a memory may contradict another
				g.n++
			}
			g.by = id
			groups[l.group] = g
		}
		ids = []memory.ID{}
		for _, g := range groups {
			if g.n > 1 {
				ids = append(ids, g.by)
			}
		}
		o.twice = ids
		return nil
	})
	return ids, err
}

// outlined are the fields by which a filter can choose from outlines alone.
var outlined = []string{"attribute", "categories", "confidence", "entities", "pinned", "plugin", "subject", "type"}

// list returns the memories that match a filter of those fields, as [store.Tx.Memories]
// does, and reads no other memories.
func (o *overview) list(ctx context.Context, tx *store.Tx, f store.Filter, by filter.Filter) (iter.Seq2[*memory.Memory, error], error) {
	var ids []memory.ID
	err := o.look(ctx, tx, func() error {
		all := o.byLearnt()
		if !f.After.IsZero() {
			at, _ := slices.BinarySearchFunc(all, &outline{learnt: f.After.Learnt, id: f.After.ID}, compare)
			all = all[:at]
		}
		var none memory.Memory
		for _, l := range slices.Backward(all) {
			late := !f.Until.IsZero() && !l.learnt.Before(f.Until)
			if late || l.learnt.Before(f.Since) || f.Types != nil && !slices.Contains(f.Types, l.typ) || f.States != nil && !slices.Contains(f.States, l.state) {
				continue
			}
			none.Type, none.Confidence, none.Source.Plugin, none.Pinned, none.Slot = l.typ, l.confidence, l.plugin, l.pinned, l.slot
			if by.Match(&filter.Item{Memory: cmp.Or(l.named, &none), Categories: func() []string { return l.categories }}) {
				ids = append(ids, l.id)
			}
		}
		return nil
	})
	return tx.MemoriesOf(ids), err
}
