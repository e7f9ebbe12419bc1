// Package dream consolidates memories in quiet moments. A plan says what package
// consolidate would change. A dream carries out the plan's steps, some in each
// transaction, and records its progress, so that a crash loses nothing. An undo
// reverts a whole dream.
package dream

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Engine is how a dream reads and changes the records.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
	AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error)
}

// Chain runs the plugins on a text. Callers of HoldsSecret or Process hold the
// engine's write lock.
type Chain interface {
	Latest(*engine.Writer) time.Time // the time of the latest event
	HoldsSecret(ctx context.Context, text string) (bool, error)
	Process(ctx context.Context, lock *engine.Writer, ev memory.Event) (extract.Outcome, error)
}

// Config is what the dreams of an open node need.
type Config struct {
	Engine   Engine
	Chain    Chain
	Scanners func() string // names the plugins that look for credentials, with their versions
	IDs      func(ev memory.EventID, plugin, fingerprint string) memory.ID
	Zone     *time.Location
	Now      func() time.Time

	// Uses returns how often each memory was used, as SaveUses stored it last.
	Uses     func(*store.Tx) (map[memory.ID]consolidate.Use, error)
	SaveUses func(context.Context) error
	// CarriedOutPlans returns how often something was forgotten. The caller holds the
	// engine's lock.
	CarriedOutPlans func() uint64
	// Erase removes a memory and some lines from every file.
	Erase func(ctx context.Context, lock *engine.Writer, id memory.ID, lines []memory.ID) error
}

// Dreams is the dream part of an open node. Its methods are safe for concurrent
// use.
type Dreams struct {
	c  Config
	mu sync.Mutex // held while a dream is planned, carried out or undone; taken before the engine's lock
}

// New makes Dreams; nothing is planned yet.
func New(c Config) *Dreams { return &Dreams{c: c} }

// Dreamer implements serve.Dreamer.
type Dreamer struct {
	settled func(context.Context) error
	open    opened.Of[*Dreams]
}

// NewDreamer makes a Dreamer. settled waits until all taken events are processed.
func NewDreamer(settled func(context.Context) error, open opened.Of[*Dreams]) Dreamer {
	return Dreamer{settled, open}
}

// PlanDream implements serve.Dreamer.
func (r Dreamer) PlanDream(ctx context.Context) (shown serve.DreamPlan, err error) {
	if err := r.settled(ctx); err != nil {
		return shown, err
	}
	ds, release, err := r.open.Use()
	if err != nil {
		return shown, err
	}
	defer release()
	ds.mu.Lock()
	defer ds.mu.Unlock()
	plan, err := ds.plan(ctx, ds.clock())
	return serve.ShowDream(&plan), err
}

// clock returns the clock of events, which a dream uses. It is never ahead of the
// wall clock. If nothing has happened yet, it is the wall clock.
func (ds *Dreams) clock() time.Time {
	wall := ds.c.Now()
	if latest := ds.latest(); !latest.IsZero() && !latest.After(wall) {
		return latest
	}
	return wall
}

// latest returns the time of the latest event, or zero if there was none.
func (ds *Dreams) latest() time.Time {
	lock := ds.c.Engine.AcquireWriter()
	defer lock.Release()
	return ds.c.Chain.Latest(lock)
}

// id returns the id of what a step proposes. It is the same on all devices of the
// space.
func (ds *Dreams) id(name string) memory.ID {
	return ds.c.IDs(memory.EventID{Device: dreamer}, dreamer, name)
}

// ApplyDream implements serve.Dreamer.
func (r Dreamer) ApplyDream(ctx context.Context, id string, without ...memory.ID) (serve.DreamResult, error) {
	return opened.Do(r.open, func(ds *Dreams) (serve.DreamResult, error) {
		ds.mu.Lock()
		defer ds.mu.Unlock()
		return ds.apply(ctx, id, without)
	})
}

// Dreams implements serve.Dreamer.
func (r Dreamer) Dreams(ctx context.Context) ([]serve.Dream, error) {
	return opened.Do(r.open, func(ds *Dreams) ([]serve.Dream, error) { return ds.doneDreams(ctx) })
}

// UndoDream implements serve.Dreamer.
func (r Dreamer) UndoDream(ctx context.Context, id string, step memory.ID) (res serve.DreamResult, err error) {
	ds, release, err := r.open.Use()
	if err != nil {
		return res, err
	}
	defer release()
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if err := ds.continueInterrupted(ctx); err != nil {
		return res, err
	}
	if id == "" {
		dreams, err := ds.doneDreams(ctx)
		if err != nil {
			return res, err
		}
		i := slices.IndexFunc(dreams, func(d serve.Dream) bool { return d.Claims > 0 })
		if i < 0 {
			return res, fmt.Errorf("no dream can be taken back: %w", memory.ErrNotFound)
		}
		id = dreams[i].ID
	}
	if !step.IsZero() {
		return ds.undoStep(ctx, id, step)
	}
	return ds.undo(ctx, id)
}

// DreamSteps implements serve.Dreamer.
func (r Dreamer) DreamSteps(ctx context.Context, id string) (list []serve.DreamStep, err error) {
	ds, release, err := r.open.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	return list, ds.c.Engine.View(ctx, func(tx *store.Tx) error {
		list, err = stepsOf(tx, id)
		return err
	})
}
