// Package tiers keeps on the device what a person needs, within a budget. It decides what
// stays, has package cold move the rest to the relay, and brings memories back.
package tiers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/query"
	"github.com/locket-dev/locket/node/retention"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
)

// Settings of tiers.
const (
	fetchWithin = 3 * time.Second // the longest time that a recall waits for cold hits
	CoolEvery   = time.Minute     // how often the budget is checked in quiet moments
	freshFor    = 24 * time.Hour  // what was learnt so recently stays hot
	dayHits     = 16              // hits for each cue of a day

	endless = 200 * 365 * 24 * time.Hour // longer than any retention rule
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	CommitInReserve(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
	Search(ctx context.Context, q recall.Query) (recall.Result, error)
}

// Config is what the tiers of an open node need.
type Config struct {
	Engine  Engine
	Store   *store.Store
	Index   *recall.Index
	Sync    *exchange.Syncing
	Budget  tier.Budget                // zero: nothing turns cold by itself
	Metered func(context.Context) bool // reports whether the connection costs by the byte now, so that no photo is sent only to check that it is at the relay; nil: it never does
	Rules   []config.Rule
	Wearer  string
	Zone    *time.Location
	Now     func() time.Time
	Log     *slog.Logger

	Around func(*engine.Writer) (place string, people []string) // returns the place and people of the live session
	Flush  func(context.Context) error                          // writes the index's segments
	Unload func(context.Context) error                          // frees what the plugins hold; called under the engine's write lock, without which none is called
}

// Tiers is the tiers part of an open node. Its methods are safe for concurrent use, except
// Maintain and CoolDuringSync.
type Tiers struct {
	*cold.Keeper
	c        Config
	prepared string // the cues for which the day's memories were fetched; used by Maintain
	seen     int    // documents in the index when the budget was last checked; used by CoolDuringSync
}

// New returns the tiers of a node. Packs are stored only at the primary relay, not at
// mirrors.
func New(c Config) *Tiers {
	ts := &Tiers{c: c, seen: c.Index.Len()}
	cfg := cold.Config{Store: c.Store, Budget: c.Budget, Log: c.Log, Now: c.Now, Commit: c.Engine.CommitInReserve,
		FlushIndex: func(ctx context.Context) (uint64, error) {
			err := c.Flush(ctx)
			return c.Index.Covered(), err
		},
		HotReason: ts.hotReason, WithFreedMemory: ts.withFreedMemory,
		Uses: func(tx *store.Tx) (map[memory.ID]cold.Use, error) {
			all, err := query.UsesKept(tx)
			out := make(map[memory.ID]cold.Use, len(all))
			for id, u := range all {
				out[id] = cold.Use(u)
			}
			return out, err
		}}
	if c.Sync.HasRelay() {
		l := c.Sync.Journal()
		cfg.Notes, cfg.ResumeWaiting, cfg.OnFrozen, cfg.OnThawed = l.Notes, l.ResumeWaiting, l.OnFrozen, l.OnThawed
		safe := c.Sync.MediaSafe()
		_, primary := c.Sync.Relay()
		cfg.EnsureStored = func(ctx context.Context, blob memory.ID) (bool, error) {
			if c.Metered != nil && c.Metered(ctx) { // the check may have to send it
				return false, nil
			}
			if c.Sync.Primary() != primary { // safe asks the relay that was the primary one when the node was opened
				return false, nil
			}
			return safe(ctx, blob)
		}
		cfg.Packs = blobPacks{c.Sync.Space(), func() bool { return c.Sync.Primary() == primary }}
	}
	ts.Keeper = cold.New(cfg)
	return ts
}

// View implements opened.Viewer.
func (ts *Tiers) View(ctx context.Context, fn func(*store.Tx) error) error {
	return ts.c.Engine.View(ctx, fn)
}

// withFreedMemory is for cold.Config. What do leaves in memory is freed before anything is loaded
// again, because loading a plugin takes 50 MB for a moment.
func (ts *Tiers) withFreedMemory(ctx context.Context, do func(context.Context) error) error {
	lock := ts.c.Engine.AcquireWriter()
	defer lock.Release()
	if err := ts.c.Unload(ctx); err != nil {
		return err
	}
	defer debug.FreeOSMemory()
	return do(ctx)
}

// easeEvery is how many documents may be added to the index during a round of sync before
// the budget is checked; fewer if the budget is small.
const easeEvery = 150

// CoolDuringSync keeps the budget while a round of sync brings more than fits. Without it, a new
// device would temporarily need room for everything.
func (ts *Tiers) CoolDuringSync(ctx context.Context) {
	step := easeEvery
	if r := ts.c.Budget.Records; r > 0 {
		step = min(step, max(1, r/8))
	}
	now := ts.c.Index.Len()
	if now-ts.seen < step {
		ts.seen = min(ts.seen, now)
		return
	}
	ts.seen = now
	if err := ts.Keeper.CoolDuringSync(ctx); err != nil && ctx.Err() == nil {
		ts.c.Log.Warn("no memory is moved to cold storage for now; sync continues", "error", err)
	}
}

// hotReason returns why a memory is needed on the device: it is new; it expires
// by a rule or a date; it was made of others, which may be forgotten; or it
// fills a single-valued slot of the wearer.
func (ts *Tiers) hotReason(m *memory.Memory) string {
	switch {
	case ts.c.Now().Sub(m.Learnt) < freshFor:
		return "it is new"
	case !m.Expires.IsZero():
		return "it expires"
	case m.State == memory.Active && m.Slot != nil && !m.Slot.Many && memory.Normal(m.Slot.Subject) == "user":
		return "it is the wearer's own"
	}
	if retention.Ends(ts.c.Rules, m, ts.c.Now().Add(endless)) != nil {
		return "a rule of retention is about it"
	}
	for _, l := range m.Links {
		if _, err := memory.ParseID(l.To); err == nil {
			return "it was made of others"
		}
	}
	return ""
}

// FetchCold brings cold memories back. It returns serve.ErrCold if that is not
// possible now.
func (ts *Tiers) FetchCold(ctx context.Context, ids ...memory.ID) error {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	_, err := ts.Keeper.Fetch(ctx, ids...)
	if errors.Is(err, cold.ErrUnreachable) {
		return fmt.Errorf("%w: %v", serve.ErrCold, err)
	}
	return err
}

// Maintain checks the budget, and fetches what the day may need.
func (ts *Tiers) Maintain(ctx context.Context) error {
	if ts.c.Budget == (tier.Budget{}) && !ts.c.Sync.HasRelay() {
		return nil
	}
	return errors.Join(ts.reindex(ctx), ts.PrepareDay(ctx), ts.Keeper.Maintain(ctx))
}

// PrepareDay fetches what the day may need. It does so once for the same day,
// place and people.
func (ts *Tiers) PrepareDay(ctx context.Context) error {
	day := tier.Day{Now: ts.c.Now().In(ts.c.Zone), Wearer: ts.c.Wearer}
	lock := ts.c.Engine.AcquireWriter()
	day.Place, day.People = ts.c.Around(lock)
	lock.Release()
	from := time.Date(day.Now.Year(), day.Now.Month(), day.Now.Day(), 0, 0, 0, 0, ts.c.Zone)
	err := ts.c.Engine.View(ctx, func(tx *store.Tx) error {
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
	if key == ts.prepared {
		return nil
	}
	_, err = ts.Keeper.Prepare(ctx, cues, func(ctx context.Context, query string) ([]memory.ID, error) {
		found, err := ts.c.Engine.Search(ctx, recall.Query{Text: query, Now: day.Now, Zone: ts.c.Zone.String(), Wearer: ts.c.Wearer, K: dayHits, Kinds: []recall.Kind{recall.Memory}})
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
		ts.prepared = key
	}
	return err
}

// reindexMeta records that the index was rebuilt and does not have the cold memories yet.
const reindexMeta = "tiers/reindex"

// MarkColdUnindexed records that a rebuilt index still needs the cold memories.
func MarkColdUnindexed(ctx context.Context, e Engine) error {
	n := 0
	err := e.View(ctx, func(tx *store.Tx) (err error) { n, err = tx.ColdCount(); return err })
	if err != nil || n == 0 {
		return err
	}
	return e.CommitInReserve(ctx, func(tx *store.Tx) error { return tx.PutMeta(reindexMeta, true) })
}

// reindex adds the cold memories to an index that was rebuilt.
func (ts *Tiers) reindex(ctx context.Context) error {
	due := false
	err := ts.c.Engine.View(ctx, func(tx *store.Tx) (err error) { _, err = tx.Meta(reindexMeta, &due); return err })
	if err != nil || !due {
		return err
	}
	_, err = ts.Keeper.Each(ctx, func(c *store.Cold) error {
		lock := ts.c.Engine.AcquireWriter()
		defer lock.Release()
		return ts.c.Engine.View(ctx, func(tx *store.Tx) error {
			if _, cold, err := tx.Stub(c.Memory.ID); err != nil || !cold {
				return err // it was fetched, or erased, meanwhile
			}
			return lock.IndexCold(tx, &c.Memory)
		})
	})
	if errors.Is(err, cold.ErrUnreachable) {
		return nil // it continues when it can
	}
	if err != nil {
		return err
	}
	if err := ts.c.Index.Flush(ctx, ts.c.Index.Covered()); err != nil {
		return err
	}
	return ts.c.Engine.CommitInReserve(ctx, func(tx *store.Tx) error { return tx.DeleteMeta(reindexMeta) })
}

// Keeper implements serve.Keeper, except for Retention.
type Keeper struct{ of opened.Of[*Tiers] }

// NewKeeper makes a Keeper.
func NewKeeper(of opened.Of[*Tiers]) Keeper { return Keeper{of} }

// Tiers implements serve.Keeper.
func (k Keeper) Tiers(ctx context.Context) (serve.Tiers, error) {
	return opened.Do(k.of, func(ts *Tiers) (serve.Tiers, error) { return ts.tiers(ctx) })
}

func (ts *Tiers) tiers(ctx context.Context) (t serve.Tiers, err error) {
	s, err := ts.Keeper.Status(ctx)
	if err != nil {
		return t, err
	}
	var away []delta.Blob
	err = ts.c.Engine.View(ctx, func(tx *store.Tx) (err error) {
		for b, err := range tx.OwnedBlobs() {
			if err != nil {
				return err
			}
			t.Media++
			t.MediaBytes += b.Size
		}
		away, err = ts.c.Sync.Journal().MissingBlobs(tx)
		return err
	})
	if err != nil {
		return t, err
	}
	for _, b := range away {
		t.ColdMediaBytes += int64(b.Size)
	}
	t.ColdMedia = len(away)
	return serve.Tiers{Media: t.Media, MediaBytes: t.MediaBytes, ColdMedia: t.ColdMedia, ColdMediaBytes: t.ColdMediaBytes, Budget: serve.HotBudget(ts.c.Budget), Hot: s.Hot, HotBytes: s.Bytes, Cold: s.Cold,
		Packs: s.Packs, PackedBytes: s.Packed, Wanted: s.Wanted, Leaving: s.Leaving, Fetched: s.Fetched, Blocked: s.Blocked, Missing: s.Missing}, nil
}

// MoveTiers implements serve.Keeper.
func (k Keeper) MoveTiers(ctx context.Context, r serve.MoveRequest) (a serve.MoveAnswer, err error) {
	ts, release, err := k.of.Use()
	if err != nil {
		return a, err
	}
	defer release()
	before, err := ts.Keeper.Status(ctx)
	if err != nil {
		return a, err
	}
	switch {
	case r.All:
		_, err = ts.Keeper.FetchAll(ctx)
		if left, e := ts.c.Sync.FetchAllMedia(ctx); e != nil && err == nil {
			ts.c.Log.Warn("photos and recordings could not be fetched", "left", left, "error", e)
		}
	case len(r.Fetch) > 0:
		a.Left, err = ts.Keeper.Fetch(ctx, r.Fetch...)
	case r.Cool:
		err = errors.Join(ts.reindex(ctx), ts.Keeper.Maintain(ctx))
	}
	if err != nil && !errors.Is(err, cold.ErrUnreachable) {
		return a, err
	}
	a.Tiers, err = ts.tiers(ctx)
	if r.Cool {
		a.Cooled = max(0, a.Cold-before.Cold)
	} else {
		a.Back = max(0, before.Cold-a.Cold)
	}
	a.Left = serve.NonNil(a.Left)
	return a, err
}
