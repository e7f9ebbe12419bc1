package node

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/query"
	"github.com/locket-dev/locket/node/retention"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// Of tiers in a node.
const (
	fetchWithin = 3 * time.Second // what a recall waits for cold hits at most
	coolEvery   = time.Minute     // how often, in quiet moments, it is looked at the budget
	freshFor    = 24 * time.Hour  // what was learnt within it stays hot
	dayHits     = 16              // of each cue of a day

	endless = 200 * 365 * 24 * time.Hour // longer than any rule keeps
)

// blobShelf is cold.Shelf over the blobs of a space at its relay.
type blobShelf struct {
	at   replica.Blobs
	here func() bool // whether that relay is still the house
}

// Put implements cold.Shelf.
func (s blobShelf) Put(ctx context.Context, body []byte) ([]byte, error) {
	if !s.here() {
		return nil, errors.New("the relay is another one since the node was opened")
	}
	id, err := s.at.Upload(ctx, bytes.NewReader(body))
	return id[:], err
}

// Get implements cold.Shelf.
func (s blobShelf) Get(ctx context.Context, at []byte, size int64) ([]byte, error) {
	if len(at) != len(envelope.Hash{}) {
		return nil, fmt.Errorf("%w: %w: pack %s: not the name of a blob", cold.ErrLost, memory.ErrDamaged, hex.EncodeToString(at))
	}
	var f scroll
	err := s.at.Download(ctx, envelope.Hash(at), &f, size)
	if errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrBlob) {
		err = fmt.Errorf("%w: %w", cold.ErrLost, err)
	}
	if err != nil {
		return nil, err
	}
	return f.b, nil
}

// Piece implements cold.Shelf.
func (s blobShelf) Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error) {
	if len(at) != len(envelope.Hash{}) {
		return nil, fmt.Errorf("%w: %w: pack %s: not the name of a blob", cold.ErrLost, memory.ErrDamaged, hex.EncodeToString(at))
	}
	b, err := s.at.Piece(ctx, envelope.Hash(at), from, n, size)
	if errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrBlob) {
		err = fmt.Errorf("%w: %w", cold.ErrLost, err)
	}
	return b, err
}

// Delete implements cold.Shelf.
func (s blobShelf) Delete(ctx context.Context, at []byte) error {
	if len(at) != len(envelope.Hash{}) {
		return nil
	}
	return s.at.DeleteBlob(ctx, envelope.Hash(at), nil)
}

// scroll is a file in memory: io.ReadWriteSeeker.
type scroll struct {
	b  []byte
	at int
}

func (s *scroll) Read(p []byte) (int, error) {
	if s.at >= len(s.b) {
		return 0, io.EOF
	}
	n := copy(p, s.b[s.at:])
	s.at += n
	return n, nil
}

func (s *scroll) Write(p []byte) (int, error) {
	s.b = append(s.b[:s.at], p...)
	s.at = len(s.b)
	return len(p), nil
}

func (s *scroll) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 || offset > int64(len(s.b)) {
		return 0, errors.New("seeks from its start only")
	}
	s.at = int(offset)
	return offset, nil
}

// openTiers makes the keeper of an open node. Packs lie at the house: a mirror
// has none.
func (n *Node) openTiers(o *session) {
	cfg := cold.Config{Store: o.store, Budget: tier.Budget{Records: int(n.cfg.Hot.Records), Bytes: int64(n.cfg.Hot.Bytes)}, Log: n.log, Now: n.now,
		Commit: o.engine.Relieve,
		Covered: func(ctx context.Context) (uint64, error) {
			err := o.flush(ctx)
			return o.index.Covered(), err
		},
		Stays: n.staysHot,
		Uses: func(tx *store.Tx) (map[memory.ID]cold.Use, error) {
			all, err := query.UsesKept(tx)
			out := make(map[memory.ID]cold.Use, len(all))
			for id, u := range all {
				out[id] = cold.Use(u)
			}
			return out, err
		}}
	if o.sync.HasRelay() {
		cfg.Notes, cfg.Back = o.sync.Journal().Notes, o.sync.Journal().Back
		cfg.Froze, cfg.Thawed = o.sync.Journal().Froze, o.sync.Journal().Thawed
		if !n.cfg.Sync.Metered { // seeing that it is there may have to send it
			cfg.Safe = o.sync.MediaSafe()
		}
		_, primary := o.sync.Relay()
		cfg.Shelf = blobShelf{o.sync.Space(), func() bool { return o.sync.Primary() == primary }}
	}
	o.cold = cold.New(cfg)
}

// easeEvery is how many documents may come into the index, in the middle of a
// round of sync, before it is looked at the budget; less where that is small.
const easeEvery = 500

// easing keeps the budget while a round of sync brings more than that: a new
// device would need room for everything otherwise. nil where nothing turns cold.
func (n *Node) easing(o *session) func(context.Context) {
	b := tier.Budget{Records: int(n.cfg.Hot.Records), Bytes: int64(n.cfg.Hot.Bytes)}
	if b == (tier.Budget{}) {
		return nil
	}
	step := easeEvery
	if b.Records > 0 {
		step = min(step, max(1, b.Records/8))
	}
	seen := o.index.Len()
	return func(ctx context.Context) {
		now := o.index.Len()
		if now-seen < step {
			seen = min(seen, now)
			return
		}
		seen = now
		if err := o.cold.Ease(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("nothing turns cold for now, and sync goes on", "error", err)
		}
	}
}

// staysHot says why a memory is needed here: it is new, ends by a rule or a
// date of its own, was made of others, which may be forgotten, or fills a slot
// of one value of the wearer's own.
func (n *Node) staysHot(m *memory.Memory) string {
	switch {
	case n.now().Sub(m.Learnt) < freshFor:
		return "it is new"
	case !m.Expires.IsZero():
		return "it expires"
	case m.State == memory.Active && m.Slot != nil && !m.Slot.Many && memory.Normal(m.Slot.Subject) == "user":
		return "it is the wearer's own"
	}
	if retention.Ends(n.rules, m, n.now().Add(endless)) != nil {
		return "a rule of retention is about it"
	}
	for _, l := range m.Links {
		if _, err := memory.ParseID(l.To); err == nil {
			return "it was made of others"
		}
	}
	return ""
}

// warm brings a memory back where it is cold: serve.ErrCold where it can't.
func (o *session) warm(ctx context.Context, ids ...memory.ID) error {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	_, err := o.cold.Fetch(ctx, ids...)
	if errors.Is(err, cold.ErrUnreachable) {
		return fmt.Errorf("%w: %v", serve.ErrCold, err)
	}
	return err
}

// tendTiers looks after the budget, and brings here what the day may ask for.
func (n *Node) tendTiers(ctx context.Context, o *session) error {
	if n.cfg.Hot.Records == 0 && n.cfg.Hot.Bytes == 0 && !o.sync.HasRelay() {
		return nil
	}
	return errors.Join(o.reindex(ctx), n.prepareDay(ctx, o), o.cold.Maintain(ctx))
}

// prepareDay fetches for the day, once for the same day, place and people.
func (n *Node) prepareDay(ctx context.Context, o *session) error {
	day := tier.Day{Now: n.now().In(n.zone), Wearer: n.cfg.Wearer}
	lock := o.engine.Hold()
	day.Place, day.People = o.extract.Around()
	lock.Release()
	from := time.Date(day.Now.Year(), day.Now.Month(), day.Now.Day(), 0, 0, 0, 0, n.zone)
	err := o.store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Episodic}, States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			if f := m.Fields.Episodic; f != nil && !f.Started.Before(from) && f.Started.Before(from.AddDate(0, 0, 2)) {
				day.Plans = append(day.Plans, m.Text)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	cues := tier.Cues(day)
	key := fmt.Sprint(cues)
	if key == o.prepared {
		return nil
	}
	_, err = o.cold.Prepare(ctx, cues, func(ctx context.Context, query string) ([]memory.ID, error) {
		found, err := o.engine.Search(ctx, recall.Query{Text: query, Now: day.Now, Zone: n.zone.String(), Wearer: n.cfg.Wearer, K: dayHits, Kinds: []recall.Kind{recall.Memory}})
		var ids []memory.ID
		for _, h := range found.Hits {
			ids = append(ids, h.ID)
		}
		return ids, err
	})
	if errors.Is(err, cold.ErrUnreachable) {
		return nil // it is tried again
	}
	if err == nil {
		o.prepared = key
	}
	return err
}

// reindexMeta says that the index was made anew, and that what is cold is not
// in it yet.
const reindexMeta = "tiers/reindex"

// owesCold notes that an index which begins anew has what is cold yet to find.
func (o *session) owesCold(ctx context.Context) error {
	n := 0
	err := o.store.View(ctx, func(tx *store.Tx) (err error) { n, err = tx.ColdCount(); return err })
	if err != nil || n == 0 {
		return err
	}
	return o.engine.Relieve(ctx, func(tx *store.Tx) error { return tx.PutMeta(reindexMeta, true) })
}

// reindex has an index that was made anew find what is cold.
func (o *session) reindex(ctx context.Context) error {
	due := false
	err := o.store.View(ctx, func(tx *store.Tx) (err error) { _, err = tx.Meta(reindexMeta, &due); return err })
	if err != nil || !due {
		return err
	}
	_, err = o.cold.Each(ctx, func(c *store.Cold) error {
		lock := o.engine.Hold()
		defer lock.Release()
		return o.store.View(ctx, func(tx *store.Tx) error {
			if _, cold, err := tx.Stub(c.Memory.ID); err != nil || !cold {
				return err // it came back, or was erased, meanwhile
			}
			return lock.IndexCold(tx, &c.Memory)
		})
	})
	if errors.Is(err, cold.ErrUnreachable) {
		return nil // it goes on when it can
	}
	if err != nil {
		return err
	}
	if err := o.index.Flush(ctx, o.index.Covered()); err != nil {
		return err
	}
	return o.engine.Relieve(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(reindexMeta) })
}

// Tiers implements serve.Keeper.
func (n *Node) Tiers(ctx context.Context) (t serve.Tiers, err error) {
	o, release, err := n.use()
	if err != nil {
		return t, err
	}
	defer release()
	return n.tiers(ctx, o)
}

func (n *Node) tiers(ctx context.Context, o *session) (t serve.Tiers, err error) {
	s, err := o.cold.Status(ctx)
	if err != nil {
		return t, err
	}
	var away []delta.Blob
	err = o.store.View(ctx, func(tx *store.Tx) (err error) {
		for b, err := range tx.OwnedBlobs() {
			if err != nil {
				return err
			}
			t.Media++
			t.MediaBytes += b.Size
		}
		away, err = o.sync.Journal().Away(tx)
		return err
	})
	if err != nil {
		return t, err
	}
	for _, b := range away {
		t.ColdMediaBytes += int64(b.Size)
	}
	t.ColdMedia = len(away)
	return serve.Tiers{Media: t.Media, MediaBytes: t.MediaBytes, ColdMedia: t.ColdMedia, ColdMediaBytes: t.ColdMediaBytes, Budget: serve.HotBudget{Records: int(n.cfg.Hot.Records), Bytes: int64(n.cfg.Hot.Bytes)}, Hot: s.Hot, HotBytes: s.Bytes, Cold: s.Cold,
		Packs: s.Packs, PackedBytes: s.Packed, Wanted: s.Wanted, Leaving: s.Leaving, Fetched: s.Fetched, Blocked: s.Blocked, Missing: s.Missing}, nil
}

// MoveTiers implements serve.Keeper.
func (n *Node) MoveTiers(ctx context.Context, r serve.MoveRequest) (a serve.MoveAnswer, err error) {
	o, release, err := n.use()
	if err != nil {
		return a, err
	}
	defer release()
	before, err := o.cold.Status(ctx)
	if err != nil {
		return a, err
	}
	switch {
	case r.All:
		_, err = o.cold.FetchAll(ctx)
		if left, e := o.sync.MediaHome(ctx); e != nil && err == nil {
			n.log.Warn("photos and recordings not fetched", "left", left, "error", e)
		}
	case len(r.Fetch) > 0:
		a.Left, err = o.cold.Fetch(ctx, r.Fetch...)
	case r.Cool:
		err = errors.Join(o.reindex(ctx), o.cold.Maintain(ctx))
	}
	if err != nil && !errors.Is(err, cold.ErrUnreachable) {
		return a, err
	}
	a.Tiers, err = n.tiers(ctx, o)
	if r.Cool {
		a.Cooled = max(0, a.Cold-before.Cold)
	} else {
		a.Back = max(0, before.Cold-a.Cold)
	}
	a.Left = serve.Some(a.Left)
	return a, err
}
