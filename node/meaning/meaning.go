// Package meaning keeps a vector for each document of the index, made by an
// embedding model that the wearer names, so that things are found that were said in
// other words.
//
// The words:
//
//   - A space has the vectors of one model: they can't be compared with
//     those of another.
//   - The current space is the one that is searched. After the
//     wearer has named another model, its space is the next one, until it
//     holds every document; then it becomes current, and the old one is dropped.
//   - The queue has the documents whose vectors are still to be made.
//
// Only a question waits for a model, and not for long: documents are found by their
// words at once, and by their meaning once the queue has reached them. Vectors are
// stored in segments, which the storage seals.
package meaning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/dense"
	"github.com/locket-dev/locket/memory/recall"
)

// Embedder makes vectors: [llm.Vectors].
type Embedder interface {
	Embed(ctx context.Context, model string, texts []string) ([][]float32, error)
}

// Config is what a Keeper needs. All fields except the prefixes and Log are
// required.
type Config struct {
	Model    string
	Embedder Embedder
	Segments recall.Segments
	// Texts returns the text of each document as a model may read it. If a document
	// is missing in the result, it is gone or no model may see it.
	Texts func(ctx context.Context, ids []memory.ID) (map[memory.ID]string, error)
	// Prefixes that some models need before a question and before a document.
	QueryPrefix, DocumentPrefix string
	Log                         *slog.Logger
}

// Status is the progress of a Keeper.
type Status struct {
	Model     string `json:"model"`          // the model with which questions are searched
	Next      string `json:"next,omitempty"` // the model that will replace it
	Documents int    `json:"documents"`      // documents that have a vector of the newest model
	Waiting   int    `json:"waiting"`
	Refused   int    `json:"refused,omitempty"` // texts that the model refused
	Fault     string `json:"fault,omitempty"`   // why no vectors are made; empty: there is no fault
}

// Keeper keeps the vectors. It is safe for concurrent use, and implements
// [recall.Dense].
type Keeper struct {
	cfg  Config
	wake chan struct{}

	flushing sync.Mutex // one flush at a time
	unsaved  []write    // writes of a flush that failed
	saved    manifest   // as it is stored

	mu      sync.Mutex
	cur     *space
	next    *space // nil: the current space belongs to the configured model
	queue   map[memory.ID]bool
	flight  map[memory.ID]bool // documents of the current batch that still exist
	refused int
	fault   string
}

// space holds one model's vectors. Its set is nil until there is a vector.
type space struct {
	name  string // of its segments
	model string
	set   *dense.Set
}

// manifest says which spaces are stored.
type manifest struct {
	Current *kept `json:"current,omitempty"`
	Next    *kept `json:"next,omitempty"`
}

type kept struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Dim   int    `json:"dim"`
}

const manifestName = "manifest"

// Open reads what is stored. Segments that can't be read are deleted, and their
// documents are queued again.
func Open(ctx context.Context, cfg Config) (*Keeper, error) {
	k := &Keeper{cfg: cfg, wake: make(chan struct{}, 1), queue: map[memory.ID]bool{}}
	k.cfg.Log = cmp.Or(k.cfg.Log, slog.New(slog.DiscardHandler))
	var m manifest
	b, err := cfg.Segments.Get(ctx, manifestName)
	switch {
	case err == nil:
		if json.Unmarshal(b, &m) != nil {
			m = manifest{}
		}
	case !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrDamaged):
		return nil, fmt.Errorf("meaning: %w", err)
	}
	if k.cur, err = k.load(ctx, m.Current); err != nil {
		return nil, err
	}
	if k.next, err = k.load(ctx, m.Next); err != nil {
		return nil, err
	}
	k.choose()
	k.saved = m
	return k, k.sweep(ctx)
}

// choose sets the next space, for the configured model.
func (k *Keeper) choose() {
	switch {
	case k.cur == nil || k.cur.set == nil:
		k.cur, k.next = k.fresh(), nil
	case k.cur.model == k.cfg.Model:
		k.next = nil
	case k.next == nil || k.next.model != k.cfg.Model:
		k.next = k.fresh()
	}
}

// fresh returns an empty space of the configured model.
func (k *Keeper) fresh() *space {
	sum := sha256.Sum256([]byte(k.cfg.Model + "\x00" + time.Now().String()))
	return &space{name: fmt.Sprintf("%x", sum[:6]), model: k.cfg.Model}
}

// load reads a space. It returns nil if nothing was stored, or nothing can be read.
func (k *Keeper) load(ctx context.Context, of *kept) (*space, error) {
	if of == nil {
		return nil, nil
	}
	sp := &space{name: of.Name, model: of.Model}
	set, err := dense.New(of.Dim)
	if err != nil {
		return sp, nil
	}
	names, err := k.cfg.Segments.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("meaning: %w", err)
	}
	for _, name := range names {
		number, ok := numberOf(sp.name, name)
		if !ok {
			continue
		}
		b, err := k.cfg.Segments.Get(ctx, name)
		if err == nil {
			err = set.Load(number, b)
		}
		switch {
		case errors.Is(err, dense.ErrCorrupt) || errors.Is(err, memory.ErrDamaged):
			k.cfg.Log.Warn("a segment of vectors can't be read: its documents are embedded again", "segment", name, "error", err)
			if err := k.cfg.Segments.Delete(ctx, name); err != nil {
				return nil, fmt.Errorf("meaning: %w", err)
			}
		case err != nil:
			return nil, fmt.Errorf("meaning: %w", err)
		}
	}
	if set.Len() > 0 {
		sp.set = set
	}
	return sp, nil
}

func segmentName(space string, number int) string { return fmt.Sprintf("%s/%08d", space, number) }

func numberOf(space, name string) (int, bool) {
	dir, file := path.Split(name)
	if dir != space+"/" {
		return 0, false
	}
	n, err := strconv.Atoi(file)
	return n, err == nil && n > 0
}

// sweep deletes the segments of spaces that are gone.
func (k *Keeper) sweep(ctx context.Context) error {
	names, err := k.cfg.Segments.List(ctx)
	if err != nil {
		return fmt.Errorf("meaning: %w", err)
	}
	k.mu.Lock()
	cur, next := k.cur.name, k.target().name
	k.mu.Unlock()
	for _, name := range names {
		if space, _, _ := strings.Cut(name, "/"); name == manifestName || space == cur || space == next {
			continue
		}
		if err := k.cfg.Segments.Delete(ctx, name); err != nil {
			return fmt.Errorf("meaning: %w", err)
		}
	}
	return nil
}

// target returns the space for which vectors are made.
func (k *Keeper) target() *space {
	if k.next != nil {
		return k.next
	}
	return k.cur
}

// OnChange is for [recall.Index.Watch].
func (k *Keeper) OnChange(added, removed []memory.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range added {
		k.queue[id] = true
	}
	for _, id := range removed {
		delete(k.queue, id)
		delete(k.flight, id)
	}
	for _, sp := range []*space{k.cur, k.next} {
		if sp != nil && sp.set != nil {
			sp.set.Remove(removed...)
		}
	}
	k.rouse()
}

func (k *Keeper) rouse() {
	select {
	case k.wake <- struct{}{}:
	default: // it was woken already
	}
}

// Match compares the spaces with the index. It removes documents that are gone, and
// queues those that are missing.
func (k *Keeper) Match(ids []memory.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	there := make(map[memory.ID]bool, len(ids))
	for _, id := range ids {
		there[id] = true
	}
	for _, sp := range []*space{k.cur, k.next} {
		if sp != nil && sp.set != nil {
			sp.set.Remove(slices.DeleteFunc(sp.set.IDs(), func(id memory.ID) bool { return there[id] })...)
		}
	}
	have := map[memory.ID]bool{}
	if t := k.target(); t.set != nil {
		for _, id := range t.set.IDs() {
			have[id] = true
		}
	}
	for _, id := range ids {
		if !have[id] {
			k.queue[id] = true
		}
	}
	k.rouse()
}

// Nearest implements [recall.Dense].
func (k *Keeper) Nearest(ctx context.Context, text string, n int) ([]recall.Similar, error) {
	k.mu.Lock()
	set, model := k.cur.set, k.cur.model
	k.mu.Unlock()
	if set == nil || set.Len() == 0 {
		return nil, nil
	}
	v, err := k.cfg.Embedder.Embed(ctx, model, []string{k.cfg.QueryPrefix + text})
	if err != nil {
		return nil, err
	}
	near, err := set.Nearest(v[0], n)
	if err != nil {
		return nil, err
	}
	out := make([]recall.Similar, len(near))
	for i, d := range near {
		out[i] = recall.Similar{ID: d.ID, Similarity: float64(d.Cosine)}
	}
	return out, nil
}

// Status returns the progress.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := Status{Model: k.cur.model, Waiting: len(k.queue), Refused: k.refused, Fault: k.fault}
	if t := k.target(); t.set != nil {
		s.Documents = t.set.Len()
	}
	if k.next != nil {
		s.Next = k.next.model
	}
	return s
}

var _ recall.Dense = (*Keeper)(nil)
var _ Embedder = (*llm.Vectors)(nil)
