// Package voices has the voices that the wearer has enrolled or named, and finds out whose voice is
// in a recording.
//
// The words:
//
//   - A voice is known when it was enrolled or named. The wearer's is known from
//     `locket voice enrol`; until then nothing is told apart.
//   - A label, such as S2-a41f, stands for a voice that nobody has named. It means the same
//     voice throughout a session, and never another voice later. Behind the hyphen are four
//     characters of the device's id: another device that is synced with it has other labels.
//   - A voiceprint is what a voice is recognised by. It is biometric: it stays in the sealed
//     records of this device, is in no delta, export or backup, and is erased from all
//     files when the voice is forgotten. A print of a voice without a name is
//     kept for a day, so that it can be named; where only known voices are
//     kept, it is not kept at all.
package voices

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/voiceprint"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// Limits.
const (
	known       = 8.0              // a higher score means that it is the known voice
	surely      = 12.0             // the same if only known voices are kept: another person may speak at the same time
	leastNew    = time.Second      // of speech that a voice without a name needs for a label
	leastEnrol  = 10 * time.Second // of speech
	forNaming   = 24 * time.Hour   // how long an unnamed voice can be named
	maxLabels   = 64
	maxKnown    = 200
	enrolWithin = 10 * time.Minute
	firstEnrol  = 30 // seconds, if the request does not say
)

// voice is a voice that can be told from others.
type voice struct {
	Name   string           `json:"name"` // name or label
	Wearer bool             `json:"wearer,omitempty"`
	Learnt time.Time        `json:"learnt"`
	Heard  time.Time        `json:"heard,omitzero"` // of a label
	Until  time.Time        `json:"until,omitzero"` // for a label: when it is dropped, by the node's clock
	Over   bool             `json:"over,omitempty"` // for a label: its session has ended
	Print  voiceprint.Print `json:"print"`
}

// book is what is stored in the records, under the name bookMeta.
type book struct {
	Known  []voice   `json:"known"`
	Labels []voice   `json:"labels,omitempty"` // the oldest first
	Next   int       `json:"next"`             // number of the label that was given last; 0: there was none
	Last   time.Time `json:"last,omitzero"`    // when a voice was last heard
}

const bookMeta = "voices"

func (b *book) clone() book {
	out := *b
	out.Known, out.Labels = slices.Clone(b.Known), slices.Clone(b.Labels)
	return out
}

func (b *book) wearer() *voice {
	for i := range b.Known {
		if b.Known[i].Wearer {
			return &b.Known[i]
		}
	}
	return nil
}

// Config is what a Known needs.
type Config struct {
	Engine    *engine.Engine
	Wearer    string                   // the wearer's name
	KnownOnly bool                     // what other voices say is not kept
	Devices   func() ([]string, error) // the names of the wearables
	// PlanSweep records, in the transaction in which a print is dropped, that older versions of it
	// are still in files. PurgeSwept removes it from the files; after a failure or a crash the node does
	// that later.
	PlanSweep  func(*store.Tx) error
	PurgeSwept func(context.Context, *engine.Writer) error
	Now        func() time.Time
	Log        *slog.Logger
}

// Known has the voices of an open node. Its methods are safe for concurrent use.
type Known struct {
	c Config

	mu    sync.Mutex // guards the fields below; taken after the engine's write lock
	book  book
	dirty bool // the book has changed since it was written
	enrol *enrolment
	going []string // names that were forgotten, and whose prints are still in files
	fault string   // why the last enrolment from a wearable failed
}

// Open reads the voices.
func Open(ctx context.Context, c Config) (*Known, error) {
	r := &Known{c: c}
	err := c.Engine.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(bookMeta, &r.book)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the voices: %w", err)
	}
	if now := c.Now().UTC(); r.book.Last.After(now) { // the clock was wrong
		r.book.Last = now
	}
	return r, nil
}

// Turns returns whose voice is where in an utterance that a wearable heard. It returns nothing if
// voices are not told apart. Its turns cover the utterance in order.
func (r *Known) Turns(device string, at time.Time, pcm []int16) (out []extract.Voice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name, went := r.learn(device, pcm); went {
		return []extract.Voice{{To: len(pcm), Speaker: name, Stranger: r.c.KnownOnly}}
	}
	if r.book.wearer() == nil && !r.c.KnownOnly {
		return nil
	}
	if now := r.c.Now().UTC(); at.After(now) { // the wearable's clock is wrong
		at = now
	}
	r.session(at)
	names := map[int]string{}
	for _, t := range voiceprint.Turns(pcm) {
		name, have := names[t.Voice]
		if !have {
			name = r.name(&t.Print, at)
			names[t.Voice] = name
		}
		v := extract.Voice{From: t.From, To: t.To, Speaker: name, Stranger: r.c.KnownOnly && !r.isKnown(name)}
		if last := len(out) - 1; last >= 0 && out[last].Speaker == v.Speaker && (v.Speaker != memory.Someone || v.Stranger) {
			out[last].To = v.To
			continue
		}
		out = append(out, v)
	}
	return out
}

func (r *Known) isKnown(name string) bool {
	return slices.ContainsFunc(r.book.Known, func(v voice) bool { return v.Name == name })
}

// session ends the labels of a session that is over. The caller holds mu.
func (r *Known) session(at time.Time) {
	b := &r.book
	if !b.Last.IsZero() && at.Sub(b.Last).Abs() > memory.SessionGap {
		for i := range b.Labels {
			r.dirty = r.dirty || !b.Labels[i].Over
			b.Labels[i].Over = true
		}
	}
	if at.After(b.Last) {
		b.Last = at
	}
}

// name returns whose print it is. The caller holds mu.
func (r *Known) name(p *voiceprint.Print, at time.Time) string {
	best, name := known, ""
	if r.c.KnownOnly {
		best = surely
	}
	for i := range r.book.Known {
		if s := voiceprint.Compare(p, &r.book.Known[i].Print); s > best {
			best, name = s, r.book.Known[i].Name
		}
	}
	if name != "" {
		return name
	}
	if r.c.KnownOnly {
		return memory.Someone
	}
	like, label := voiceprint.OneVoice, (*voice)(nil)
	for i := range r.book.Labels {
		if v := &r.book.Labels[i]; !v.Over {
			if s := voiceprint.Compare(p, &v.Print); s > like {
				like, label = s, v
			}
		}
	}
	switch {
	case label != nil:
		label.Print.Add(p)
		label.Heard, label.Until = at, r.c.Now().Add(forNaming).UTC()
	case p.Speech() < leastNew:
		return memory.Someone
	default:
		r.book.Next++
		if len(r.book.Labels) >= maxLabels {
			r.book.Labels = slices.Delete(r.book.Labels, 0, 1)
		}
		r.book.Labels = append(r.book.Labels, voice{Name: fmt.Sprintf("S%d-%.4s", r.book.Next, r.c.Engine.Member()), Learnt: at, Heard: at, Until: r.c.Now().Add(forNaming).UTC(), Print: *p})
		label = &r.book.Labels[len(r.book.Labels)-1]
	}
	r.dirty = true
	return label.Name
}

// who returns a voice for a name; without a name it is the wearer's.
func (r *Known) who(name string) voice {
	if name == "" || strings.EqualFold(name, r.c.Wearer) {
		return voice{Name: r.c.Wearer, Wearer: true}
	}
	return voice{Name: name}
}

// enrol adds a voice, and replaces one of the same name.
func (b *book) enrol(v voice, p voiceprint.Print, now time.Time) error {
	v.Print, v.Learnt = p, now.UTC()
	b.Known = slices.DeleteFunc(b.Known, func(o voice) bool { return o.same(v) })
	if len(b.Known) >= maxKnown {
		return fmt.Errorf("%w: %d voices are known already; forget one", memory.ErrInvalid, maxKnown)
	}
	b.Known = append(b.Known, v)
	return nil
}

// over reports whether a label's print has to be dropped. It is kept for a day at most, even if the
// clock was wrong when its time was set.
func (r *Known) over(v voice) bool {
	now := r.c.Now()
	return r.c.KnownOnly || now.After(v.Until) || v.Until.Sub(now) > forNaming
}

// Prune drops the prints of voices without a name whose time is over, and reports whether there
// were any. also runs in the same transaction, because older versions of what is dropped are still
// in the store's files.
func (r *Known) Prune(ctx context.Context, also func(*store.Tx) error) (bool, error) {
	r.mu.Lock()
	due := slices.ContainsFunc(r.book.Labels, r.over)
	r.mu.Unlock()
	if !due {
		return false, nil
	}
	lock := r.c.Engine.AcquireWriter()
	defer lock.Release()
	err := r.write(ctx, lock, func(tx *store.Tx, b *book) error {
		b.Labels = slices.DeleteFunc(b.Labels, r.over)
		return also(tx)
	})
	if err != nil {
		return false, fmt.Errorf("drop the prints of voices without a name: %w", err)
	}
	return true, nil
}

// Save writes what Turns has learnt, in the transaction that commits the utterance.
func (r *Known) Save(tx *store.Tx) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.dirty {
		return nil
	}
	return tx.PutMeta(bookMeta, &r.book)
}

// OnSaved is called after that transaction.
func (r *Known) OnSaved() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirty = false
}

// change changes the book in its own transaction.
func (r *Known) change(ctx context.Context, fn func(*book) error) error {
	lock := r.c.Engine.AcquireWriter() // so that nothing is heard meanwhile
	defer lock.Release()
	return r.write(ctx, lock, func(_ *store.Tx, b *book) error { return fn(b) })
}

// write is change for a caller who holds the lock. fn may be called again.
func (r *Known) write(ctx context.Context, lock *engine.Writer, fn func(*store.Tx, *book) error) error {
	r.mu.Lock()
	was := r.book.clone()
	r.mu.Unlock()
	var next book
	err := lock.Commit(ctx, func(tx *store.Tx) error {
		next = was.clone()
		if err := fn(tx, &next); err != nil {
			return err
		}
		return tx.PutMeta(bookMeta, &next)
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.book, r.dirty = next, false
	r.mu.Unlock()
	return nil
}

// forget drops a voice, and its print from all files. If only the files failed the last time, the
// same name tries them again.
func (r *Known) forget(ctx context.Context, name string) error {
	lock := r.c.Engine.AcquireWriter()
	defer lock.Release()
	r.mu.Lock()
	if e := r.enrol; e != nil && strings.EqualFold(r.who(e.name).Name, name) {
		r.enrol = nil // otherwise it would soon be learnt again
	}
	same := func(o string) bool { return strings.EqualFold(o, name) }
	again := slices.ContainsFunc(r.going, same)
	r.mu.Unlock()
	err := r.write(ctx, lock, func(tx *store.Tx, b *book) error {
		if _, ok := b.remove(name); !ok && !again {
			return fmt.Errorf("voice %.40q: %w", name, memory.ErrNotFound)
		}
		return r.c.PlanSweep(tx)
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.going = append(slices.DeleteFunc(r.going, same), name)
	r.mu.Unlock()
	if err := r.c.PurgeSwept(ctx, lock); err != nil {
		return fmt.Errorf("voice %.40q is no longer known, but its print is still in files of the store; the node will erase it, and forgetting it again does so at once: %w", name, err)
	}
	r.mu.Lock()
	r.going = slices.DeleteFunc(r.going, same)
	r.mu.Unlock()
	return nil
}
