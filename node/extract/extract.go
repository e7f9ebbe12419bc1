// Package extract makes memories of events: it decodes an event, calls the plugins with
// it, and commits what they propose.
//
// One event at a time, in the journal's order:
//
//   - sound is decoded to samples, and a photo to pixels;
//   - the plugin secrets sees the text first. What it takes out is seen by no other
//     plugin, by no log, and is in neither store nor index;
//   - each plugin that asks for this kind of event is called. If one fails, only its
//     own result is lost;
//   - candidates are checked, given ids that depend on the event and not on the
//     day, compared with what is known, and become assertions;
//   - everything that follows from the event is committed in one transaction,
//     with the mark that it is done. After a crash it happens again, to the
//     same ids.
package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// Plugin is an extractor, ready to be called. Implementations are safe for
// use by one goroutine.
type Plugin interface {
	ID() string
	Version() string
	// RunsFirst reports whether the others see texts only without what this plugin
	// redacts.
	RunsFirst() bool
	Wants(kind string) bool
	Extract(ctx context.Context, ev *abi.Event) (abi.Output, error)
}

// Keys is what extraction needs of the node's keys.
type Keys interface {
	// SealToVault seals a secret so that only the vault's private half opens it.
	SealToVault(secret []byte) ([]byte, error)
	// MemoryID is memory.DeriveID under the space's id key.
	MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID
}

// Config says whose memories these are, and how long raw things are kept.
type Config struct {
	Owner      string         // user id of the wearer
	Wearer     string         // the wearer's name: who "I" is
	Zone       *time.Location // for events that do not name a zone; nil: UTC
	KeepAudio  time.Duration  // how long a recording waits for a transcript; 0: 7 days
	KeepPhotos time.Duration  // how long a photo's pixels are kept; 0: 30 days
	// LeftOut, if set, returns what the wearer's instructions exclude from being remembered.
	LeftOut func(tx *store.Tx) (category.LeftOut, error)
	// OnSecondLook, if set, is called after lines that may be worth a second look were
	// committed. Such lines are kept as tasks.
	OnSecondLook func()
	// OnCommitted, if set, is called after an event was committed, with the lines that were said in
	// it, including those that another wearable heard, too. It must not block.
	OnCommitted func(*memory.Event, []memory.Utterance)
	// CarryOutOrder, if set, is given each line before anything else. It reports whether the line is an
	// order to the node, and then has carried it out; such a line is not kept. It must not wait
	// for the engine. After a failed commit the line comes again.
	CarryOutOrder func(*memory.Event) bool
	// IsOffRecord, if set, reports whether what happened at a time must not be kept, because it
	// came between an order to stop and the pause that followed.
	IsOffRecord func(at time.Time) bool
	// Voices, if set, tells the voices in an utterance apart.
	Voices Voices
	// KnownOnly: neither words nor sound of voices that nobody enrolled or named are kept.
	KnownOnly bool
}

// Extractor is the chain of plugins. All its methods but NoteServed are called by one goroutine at
// a time, which holds the engine's write lock. Those that commit ask for the lock
// as an [engine.Writer].
type Extractor struct {
	cfg     Config
	engine  *engine.Engine
	store   *store.Store // writes blobs
	keys    Keys
	plugins []Plugin
	log     *slog.Logger
	session session
	stored  *saved                      // the session as the store has it; nil: it has to be read
	streams map[string]*stream          // sound that is being heard, by device
	partial map[memory.EventID]*partial // by the event of the photo's first part
	states  states
	served  served
	live    Live   // hears utterances while they are spoken; nil: nothing does
	forgot  uint64 // how often something was forgotten
}

// New makes a chain. Plugins are called in the given order, those whose RunsFirst
// is true before all others.
func New(ctx context.Context, cfg Config, e *engine.Engine, st *store.Store, keys Keys, plugins []Plugin, log *slog.Logger) (*Extractor, error) {
	if cfg.Owner == "" {
		return nil, errors.New("extract: no owner")
	}
	cfg.Zone = cmp.Or(cfg.Zone, time.UTC)
	cfg.KeepAudio = cmp.Or(cfg.KeepAudio, 7*24*time.Hour)
	cfg.KeepPhotos = cmp.Or(cfg.KeepPhotos, 30*24*time.Hour)
	x := &Extractor{cfg: cfg, engine: e, store: st, keys: keys, log: log,
		streams: map[string]*stream{}, partial: map[memory.EventID]*partial{}, states: states{}}
	x.SetPlugins(plugins)
	if err := x.session.load(ctx, e); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	return x, nil
}

// SetPlugins gives the next events to these plugins, in this order, those whose RunsFirst is true before
// the others. The state of a plugin belongs to its id, so a new version continues with it.
func (x *Extractor) SetPlugins(plugins []Plugin) {
	x.plugins = nil
	for _, first := range []bool{true, false} {
		for _, p := range plugins {
			if p.RunsFirst() == first {
				x.plugins = append(x.plugins, p)
			}
		}
	}
}

// SetOnSecondLook replaces Config.OnSecondLook. nil: lines are not kept as tasks any more.
func (x *Extractor) SetOnSecondLook(later func()) { x.cfg.OnSecondLook = later }

// Outcome says what became of one event.
type Outcome struct {
	Event    memory.EventID
	Repeated bool             // the event was done before
	Held     bool             // it is sound of an unfinished utterance, or a part of a photo, and waits for more
	Covers   []memory.EventID // held events that this event completes
	Lines    []memory.ID      // utterances of it that were kept
	Changes  []memory.Change
	Refusals []memory.Refusal
	Redacted int
	Faults   []Fault
}

// Fault is a plugin's failure on one event.
type Fault struct {
	Plugin string
	Err    error
}

// pending is what one event will commit.
type pending struct {
	event      memory.Event
	utterances []memory.Utterance
	duplicates []memory.Utterance // lines that are stored already, and are not stored again
	proposals  []proposal
	refusals   []memory.Refusal
	redacted   int // how many secrets were taken out
	faults     []Fault
	steps      []Step            // the plugins' calls so far
	covers     []memory.EventID  // held events that this event completes
	leftOut    *category.LeftOut // nil until a candidate asks for it
	broken     error             // why the event can't be processed now; it will come again

	// A later text can show that an earlier one holds half of a secret.
	rewritten map[memory.ID]string // new texts of utterances from which a secret was taken
	secrets   []string             // what was taken out
	marks     []string             // the marks that replace them in the event's own text

	// Texts that nobody may see, because no plugin could look for secrets in them.
	quarantined     []store.Quarantined
	quarantineOwner memory.ID // the utterance with which their blobs are erased
	quarantineSeq   uint64    // the event's number in the quarantine; 0: it comes for the first time

	// The call under way.
	lineID memory.ID     // utterance of the text
	by     memory.Source // the engine that heard the words, if one did
	depth  int           // how often the event was derived from another

	held        bool                        // nothing is committed: the event waits for more
	unfinished  bool                        // an utterance that began in this sound is not over, so the event is not done
	replayed    bool                        // an old event comes again, and must not change the plugins' present state
	addsToDone  bool                        // it adds to an event that was done before
	unkeptLines int                         // lines that are not kept, because the wearer wants them off the record
	deferred    map[string][]deferredRecord // events that wait for a plugin, by plugin
	inSameTx    func(*store.Tx) error       // runs first in the transaction; may be nil
	after       []func()                    // called after the commit, or once the event is held
}

type proposal struct {
	id   memory.ID
	cand memory.Candidate
	data []byte // bytes of a resource, which become a blob that the candidate names
}

// Process runs the chain on one event and commits the result. An error means that nothing was
// committed and that the event should come again. If something is wrong with the event itself,
// the Outcome has a refusal.
func (x *Extractor) Process(ctx context.Context, w *engine.Writer, ev memory.Event) (out Outcome, err error) {
	ctx, work := span.Start(ctx, "extract")
	defer func() {
		work.Count("locket.changes", len(out.Changes))
		work.Count("locket.refusals", len(out.Refusals))
		work.End(err)
	}()
	out = Outcome{Event: ev.ID}
	err = x.engine.View(ctx, func(tx *store.Tx) (err error) {
		_, out.Repeated, err = tx.EventMark(ev.ID)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("extract %s: %w", ev.ID, err)
	}
	if out.Repeated {
		return out, nil
	}
	p := &pending{event: ev, rewritten: map[memory.ID]string{}}
	if x.isOffRecord(p) {
		if ev.Secret != "" {
			return out, fmt.Errorf("%w: secret: at: that time is off the record, so nothing of the line was kept", memory.ErrInvalid)
		}
		if out.Changes, err = x.commit(ctx, w, p); err != nil {
			return out, fmt.Errorf("extract %s: %w", ev.ID, err)
		}
		out.Refusals = p.refusals
		return out, nil
	}
	restore := x.snapshot(ev.ID.Device)
	defer func() {
		if err != nil {
			restore()
		}
	}()
	switch ev.Kind {
	case memory.KindText:
		x.text(ctx, p)
	case memory.KindAudio:
		x.audio(ctx, p)
	case memory.KindPhoto:
		x.photo(ctx, p)
	case memory.KindLocation:
		x.location(p)
		x.other(ctx, p)
	case memory.KindButton:
		x.button(p)
		x.other(ctx, p)
	case memory.KindGap:
		x.gap(ctx, p)
	default:
		x.other(ctx, p)
	}
	if err = errors.Join(ctx.Err(), p.broken); err != nil {
		return out, err
	}
	out.Redacted, out.Faults, out.Held = p.redacted, p.faults, p.held || p.unfinished
	out.Refusals, out.Covers = p.refusals, p.covers
	if p.held {
		for _, f := range p.after {
			f()
		}
		return out, nil
	}
	out.Changes, err = x.commit(ctx, w, p)
	if err != nil {
		return out, fmt.Errorf("extract %s: %w", ev.ID, err)
	}
	for i := range p.utterances {
		out.Lines = append(out.Lines, p.utterances[i].ID)
	}
	return out, nil
}

// snapshot saves the in-memory state that an event may change. If the event is not committed,
// restore resets that state, and the event can be processed again as if for the first time.
func (x *Extractor) snapshot(device string) (restore func()) {
	session, states := x.session, maps.Clone(x.states)
	session.turns = slices.Clone(session.turns)
	before := x.streams[device]
	var s stream
	if before != nil {
		s = *before
		s.pcm, s.open, s.since = slices.Clone(s.pcm), slices.Clone(s.open), slices.Clone(s.since)
	}
	return func() {
		x.session, x.states = session, states
		delete(x.streams, device)
		if before != nil {
			*before = s
			x.streams[device] = before
		}
	}
}

// maxReason is how many bytes of a plugin's reason for a refusal are kept. It is
// enough for a sentence, and too little for the text that it is about.
const maxReason = 512

func (p *pending) refuse(plugin, kind, reason string) {
	p.refusals = append(p.refusals, memory.Refusal{Event: p.event.ID, At: p.event.At, Plugin: plugin, Kind: kind, Reason: reason})
}

// call runs one plugin. If the plugin does something wrong, only its own result is
// lost. Without a stream the plugin has no state, and leaves none.
func (x *Extractor) call(ctx context.Context, p *pending, pl Plugin, ev *abi.Event, stream string) (abi.Output, bool) {
	key := stateKey{pl.ID(), stream}
	var state []byte
	var err error
	if stream != "" {
		if state, err = x.states.get(ctx, x.engine, key); err != nil {
			p.broken = errors.Join(p.broken, err)
			return abi.Output{}, false
		}
	}
	ev.State, ev.Memories = state, nil
	if r, ok := pl.(Reader); ok {
		if ev.Memories, err = x.memoriesFor(ctx, r.Reads(), ev.Text, p.event.User); err != nil {
			p.broken = errors.Join(p.broken, err)
			return abi.Output{}, false
		}
	}
	out, err := p.measure(ctx, pl, ev)
	if err != nil {
		if ctx.Err() == nil {
			p.deferFor(pl, err)
			p.faults = append(p.faults, Fault{pl.ID(), err})
			x.log.Warn("plugin failed", "plugin", pl.ID(), "event", p.event.ID.String(), "error", publicReason(pl, err))
		}
		return abi.Output{}, false
	}
	if out.State != nil && stream != "" {
		x.states.set(key, out.State)
	}
	for _, r := range out.Refusals {
		if r.Kind == "nothing" && p.marked(ev.Text, r.Span) {
			continue // the text said a secret, which went to the vault
		}
		p.refuse(pl.ID(), r.Kind, memory.Cut(r.Reason, maxReason))
	}
	return out, true
}

// event returns the part of a plugin's input that all kinds share.
func (x *Extractor) event(ev *memory.Event, kind string) abi.Event {
	zone := x.zone(ev)
	_, offset := ev.At.In(zone).Zone()
	in := abi.Event{ID: ev.ID.String(), Kind: kind, At: ev.At.UnixMilli(), Zone: cmp.Or(memory.ZoneName(zone), "UTC"), Offset: offset,
		Lang: ev.Lang, Speaker: ev.Speaker, Wearer: x.me(ev.User), Name: ev.Name, Values: ev.Values}
	if p := ev.Place; p != nil {
		in.Name, in.Values = p.Name, []float64{p.Lat, p.Lon, p.Accuracy}
	}
	return in
}

// me returns the name of the person who is "I" in the lines of the wearer: the wearer or, in what an
// app adds for another user, that user.
func (x *Extractor) me(user string) string {
	return cmp.Or(memory.OtherUser(user), x.cfg.Wearer)
}

func (x *Extractor) zone(ev *memory.Event) *time.Location {
	return memory.ZoneOr(ev.Zone, x.cfg.Zone)
}
