// Package pump reads the entries of the event journal in order, gives each event to the
// extractor, and removes entries from the journal once they are processed.
package pump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/extract"
)

// Cursor names the record that says how far the journal was processed.
const Cursor = "journal"

// Times and limits.
const (
	idleAfter  = 500 * time.Millisecond // the pump tidies up after this time without an entry
	calmAfter  = 30                     // after that many times in a row, it tidies up less often:
	calmEvery  = 4 * time.Second
	cursorStep = 64                     // entries between two writes of the cursor
	tries      = 5                      // attempts with one entry before it is quarantined
	firstWait  = 200 * time.Millisecond // wait between attempts, doubled up to longWait
	longWait   = 10 * time.Second
	streamIdle = 10 * time.Second // an utterance is over after this time without sound
	partsIdle  = 2 * time.Hour    // a photo is given up after this time without another part; devices try again for ten minutes
)

// Config is what a pump needs.
type Config struct {
	Journal   *journal.Journal
	Identity  *seal.Identity // of the journal
	Engine    *engine.Engine
	Blobs     *store.Store // where blobs are written
	Extract   *extract.Extractor
	OnEvent   func(extract.Outcome) // called after each event
	OnIdle    func(context.Context) // called when there is nothing to process
	PanicFile string                // the file that names the entry at which a panic ended the process
	Log       *slog.Logger
}

// Pump processes the journal once, from Run until its end. Its exported methods may be
// called from any goroutine, except where the documentation says otherwise.
type Pump struct {
	c      Config
	reader *journal.Reader

	held     map[memory.EventID]uint64 // entries whose events wait for more sound or parts, by event
	moved    map[uint64]bool           // entries that are copies of ones that were processed, see purge.go
	last     uint64                    // the last entry that was processed
	at       atomic.Uint64             // the same, for other goroutines
	from     uint64                    // the cursor at the start
	before   int64                     // entries appended by this process before the start
	backlog  int64                     // entries in the journal at the start, including those that were already processed
	wrote    uint64                    // the cursor on disk, which may be behind last
	full     bool                      // the disk had no room for the cursor
	done     atomic.Uint64             // entries processed since the start
	panicked uint64                    // the entry at which the last pump panicked, see panicked.go
	quiet    chan struct{}             // closed once everything that was there at the start is processed
	settled  sync.Once                 // closes quiet
	purges   purges
}

// New makes a pump that continues where the last one stopped.
func New(ctx context.Context, c Config) (*Pump, error) {
	var from uint64
	err := c.Engine.View(ctx, func(tx *store.Tx) (err error) {
		from, err = tx.Cursor(Cursor)
		return err
	})
	if err != nil {
		return nil, err
	}
	r, err := c.Journal.Reader(c.Identity, from+1)
	if err != nil {
		return nil, err
	}
	stats := c.Journal.Stats()
	p := &Pump{c: c, reader: r, held: map[memory.EventID]uint64{}, moved: map[uint64]bool{}, last: from, from: from, wrote: from,
		before: stats.Appended, backlog: stats.Entries, quiet: make(chan struct{})}
	p.readPanicked()
	return p, nil
}

// Idle is closed once everything that was there at the start is processed.
func (p *Pump) Idle() <-chan struct{} { return p.quiet }

// Waiting counts the entries that are not processed yet. j is the journal's state.
func (p *Pump) Waiting(j *journal.Stats) int {
	if p.HasProcessed(j.Last) {
		return 0
	}
	return max(1, int(p.backlog+j.Appended-p.before)-int(p.done.Load()))
}

// Run runs until ctx ends, which is not an error.
func (p *Pump) Run(ctx context.Context) error {
	defer p.purges.end()
	defer p.reader.Close()
	if j := p.c.Journal.Stats(); p.Waiting(&j) == 0 {
		p.runIdle(ctx) // so that callers who wait for Idle need not wait for idleAfter
	}
	for rests := 0; ; rests++ {
		p.purgeAsked(ctx)
		pace := idleAfter
		if rests >= calmAfter && len(p.held) == 0 {
			pace = calmEvery
		}
		idle, stop := context.WithTimeout(ctx, pace)
		p.purges.wake(stop)
		e, err := p.reader.Next(idle)
		stop()
		var damaged *journal.CorruptError
		switch {
		case ctx.Err() != nil || errors.Is(err, journal.ErrClosed):
			return p.save(context.WithoutCancel(ctx))
		case errors.Is(err, context.DeadlineExceeded):
			p.runIdle(ctx)
			continue
		case errors.Is(err, context.Canceled):
			continue // somebody asks for a purge
		case errors.As(err, &damaged):
			p.c.Log.Error("journal is damaged", "error", err)
			if err := p.tellDamage(ctx, damaged); err != nil && ctx.Err() == nil {
				p.c.Log.Error("the damage of the journal could not be recorded", "error", err)
			}
			continue
		case err != nil:
			p.c.Log.Error("journal can't be read", "error", err)
			if !wait.For(ctx, longWait) {
				return p.save(context.WithoutCancel(ctx))
			}
			continue
		}
		rests = 0
		if !p.processRetrying(ctx, e) {
			return p.save(context.WithoutCancel(ctx))
		}
	}
}

// processRetrying processes one entry, with retries after failures. It returns false if ctx ended.
func (p *Pump) processRetrying(ctx context.Context, e journal.Entry) bool {
	pace := retry.Backoff{First: firstWait, Most: longWait}
	for try := 1; ; try++ {
		err := p.process(ctx, e)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return false
		}
		if !errors.Is(err, memory.ErrNoSpace) && try >= tries {
			p.c.Log.Error("an event is set aside: it can't be processed", "entry", e.Seq, "error", err)
			if p.quarantine(ctx, e, err) == nil {
				break
			}
		}
		p.c.Log.Warn("event will be tried again", "entry", e.Seq, "error", err)
		if !pace.Wait(ctx) {
			return false
		}
	}
	p.last = e.Seq
	p.at.Store(e.Seq)
	p.done.Add(1)
	if p.done.Load()%cursorStep == 0 {
		p.saveOrTell(ctx)
	}
	return true
}

// process gives one entry to the extractor. A malformed entry is quarantined.
func (p *Pump) process(ctx context.Context, e journal.Entry) error {
	if p.moved[e.Seq] {
		delete(p.moved, e.Seq)
		return nil
	}
	ev, rejected, err := decodeEntry(e.Data)
	switch {
	case err != nil:
		return p.quarantine(ctx, e, err)
	case rejected != nil:
		return p.c.Engine.Commit(ctx, func(tx *store.Tx) error {
			return tx.Quarantine(store.Quarantined{At: rejected.At, Topic: rejected.Device + "/" + string(rejected.Kind),
				Reason: rejected.Problem + ": " + rejected.Error, Size: int(rejected.Size), Data: rejected.Payload})
		})
	}
	if ev, err = unsealed(p.c.Identity, ev); errors.Is(err, seal.ErrZeroed) {
		return err // the node is being locked
	} else if err != nil {
		return p.quarantine(ctx, e, err)
	}
	if e.Seq == p.panicked {
		if err := p.quarantine(ctx, e, errPanicked); err != nil {
			return err
		}
		p.forgetPanic()
		return nil
	}
	returned := false
	defer func() {
		if !returned {
			p.notePanic(e.Seq)
		}
	}()
	lock := p.c.Engine.AcquireWriter()
	out, err := p.c.Extract.Process(ctx, lock, *ev)
	lock.Release()
	if err == nil {
		p.settle(out, e.Seq)
	}
	returned = true
	return err
}

// settle records which events wait for more sound.
func (p *Pump) settle(out extract.Outcome, seq uint64) {
	if out.Held {
		p.held[out.Event] = seq
	}
	for _, id := range out.Covers {
		delete(p.held, id)
	}
	p.c.OnEvent(out)
}

// quarantine stores an entry that can't be processed, complete and sealed, where doctor
// reports it.
func (p *Pump) quarantine(ctx context.Context, e journal.Entry, why error) error {
	b, err := p.c.Blobs.WriteBlob(ctx, bytes.NewReader(e.Data))
	if err != nil {
		return err
	}
	topic := journalTopic
	if ev, _, err := decodeEntry(e.Data); err == nil && ev != nil {
		topic = ev.ID.Device + "/" + topic // so that it counts towards the share of that device
	}
	return p.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		if err := tx.KeepBlob(b, memory.ID{}); err != nil {
			return err
		}
		return tx.Quarantine(store.Quarantined{At: time.Now(), Topic: topic,
			Reason: fmt.Sprintf("failed: %v; kept whole as blob %s", why, b.ID), Size: len(e.Data), Data: e.Data, Blob: b.ID})
	})
}

// tellDamage records what the journal has lost, so that doctor reports it.
func (p *Pump) tellDamage(ctx context.Context, d *journal.CorruptError) error {
	return p.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		return tx.Quarantine(store.Quarantined{At: time.Now(), Topic: journalTopic, Reason: "damaged: " + d.Error()})
	})
}

// journalTopic is the topic in quarantine for entries of the journal itself.
const journalTopic = "journal"

// runIdle does the work of a quiet moment.
func (p *Pump) runIdle(ctx context.Context) {
	lock := p.c.Engine.AcquireWriter()
	outs, err := p.c.Extract.EndSilent(ctx, lock, streamIdle, partsIdle)
	lock.Release()
	if err != nil && ctx.Err() == nil {
		p.c.Log.Warn("sound that broke off is not committed", "error", err)
	}
	for _, out := range outs {
		p.settle(out, p.last)
	}
	p.saveOrTell(ctx)
	p.c.OnIdle(ctx)
	p.settled.Do(func() { close(p.quiet) })
}

// saveOrTell calls save, and logs an error. A full disk is logged once.
func (p *Pump) saveOrTell(ctx context.Context) {
	err := p.save(ctx)
	full := errors.Is(err, memory.ErrNoSpace)
	if err != nil && ctx.Err() == nil && !(full && p.full) {
		p.c.Log.Warn("the cursor could not be written", "error", err)
	}
	p.full = full
}

// save writes the cursor, and lets the journal delete what is before it.
func (p *Pump) save(ctx context.Context) error {
	upTo := p.doneWith()
	if upTo <= p.wrote {
		return nil
	}
	if err := p.c.Engine.CommitInReserve(ctx, func(tx *store.Tx) error { return tx.SetCursor(Cursor, upTo) }); err != nil {
		return fmt.Errorf("journal cursor: %w", err)
	}
	p.wrote = upTo
	return p.c.Journal.Release(upTo)
}

// doneWith returns the last entry before the first one that is held.
func (p *Pump) doneWith() uint64 {
	upTo := p.last
	for _, seq := range p.held {
		upTo = min(upTo, seq-1)
	}
	return upTo
}

// HasProcessed reports whether an entry, and all before it, were processed.
func (p *Pump) HasProcessed(seq uint64) bool { return p.at.Load() >= seq || seq <= p.from }
