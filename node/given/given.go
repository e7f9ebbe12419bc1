// Package given lets the memories that others share with the wearer be found beside the
// wearer's own.
//
// The words:
//
//   - A given memory is a copy that somebody else shares, or that the wearer bought.
//     It is found and shown, marked with its owner and its expiry. It is never
//     reconciled with what the wearer knows, nor used in dreams, synced or exported.
//   - The collection is all given memories and an index over them, only in memory.
//     Package share stores shares, sealed, in a folder for each; package market stores
//     bought bundles, sealed, in a file for each order.
//
// A given memory is what a stranger says. Its id here is derived from the ids of the share
// and the copy, so that it can't be the id of one of the wearer's own.
package given

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// Memory is a given memory.
type Memory struct {
	memory.Memory
	By serve.SharedBy
}

// Hit is a given memory that was found.
type Hit struct {
	Memory
	Score float64
	Parts []recall.Part
	Chunk *memory.Chunk // for a long resource, the part that answers
}

// Shown returns the hit in the form in which it is served, with its score multiplied by
// scale, from 0 to 1.
func (h *Hit) Shown(scale float64) serve.Hit {
	m, by := h.Memory.Memory, h.By
	hit := serve.Hit{ID: m.ID, Text: m.Text, At: m.When(), Score: h.Score * scale, Parts: map[string]float64{}, Evidence: m.Evidence, Memory: &m, Chunk: h.Chunk, SharedBy: &by}
	for _, p := range h.Parts {
		hit.Parts[p.Name] = p.Value
	}
	if scale < 1 {
		hit.Parts[recall.PartShared] = h.Score * (scale - 1)
	}
	return hit
}

// Answer is what a search of the collection found, the best first.
type Answer struct {
	Hits       []Hit
	Confidence float64
	Shape      recall.Shape
}

// Source provides given memories beyond what a reader was given: bundles that the wearer
// bought, whose id follows from the order, and communities.
type Source interface {
	// Spaces returns those that may be searched, each with a stamp that changes whenever
	// its stored part does.
	Spaces() (map[memory.SpaceID]string, error)
	// Given opens one. A bundle has no memories while the order gives no right to them.
	Given(ctx context.Context, space memory.SpaceID) (share.Given, error)
	// StopSearching stops searching one, or returns memory.ErrNotFound.
	StopSearching(space memory.SpaceID) error
	// Fetch asks the markets for the state of the orders that have not ended.
	Fetch(ctx context.Context) error
}

// Collection is what others share with the wearer, and what the wearer bought. Its methods
// are safe for concurrent use. A nil collection has nothing.
type Collection struct {
	reader *share.Reader
	others []Source
	now    func() time.Time
	log    *slog.Logger

	patience time.Duration

	mu     sync.Mutex // held while shares are searched for and read
	index  *recall.Index
	shares map[memory.SpaceID]*collected
	mems   map[memory.ID]*Memory // by the id that is used here
	docs   map[memory.ID]*Memory // by the id in the index
}

// collected is one share of the collection.
type collected struct {
	stamp string
	given share.Given
	docs  []memory.ID
	mems  []memory.ID
}

// Open makes a collection over a reader's folder and other sources. now and log may be
// nil.
func Open(ctx context.Context, r *share.Reader, others []Source, now func() time.Time, log *slog.Logger) (*Collection, error) {
	if now == nil {
		now = time.Now
	}
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	s := &Collection{reader: r, others: others, now: now, log: log, patience: patience, shares: map[memory.SpaceID]*collected{}, mems: map[memory.ID]*Memory{}, docs: map[memory.ID]*Memory{}}
	var err error
	s.index, err = recall.Open(ctx, recall.InMemory{}, recall.Options{})
	return s, err
}

// Close frees the memory that the collection uses.
func (s *Collection) Close() error {
	if s == nil {
		return nil
	}
	return s.index.Close()
}

// look updates the collection from changes in the reader's folder.
func (s *Collection) look(ctx context.Context) error {
	stamps, err := s.reader.Spaces()
	if err != nil {
		return err
	}
	of := map[memory.SpaceID]Source{}
	for _, o := range s.others {
		more, err := o.Spaces()
		if err != nil {
			return err
		}
		for space, stamp := range more {
			stamps[space], of[space] = stamp, o
		}
	}
	for space := range s.shares {
		if _, there := stamps[space]; !there {
			if err := s.remove(space); err != nil {
				return err
			}
		}
	}
	for space, stamp := range stamps {
		if old := s.shares[space]; old != nil && old.stamp == stamp {
			continue
		}
		read := s.reader.Given
		if o := of[space]; o != nil {
			read = o.Given
		}
		g, err := read(ctx, space)
		if errors.Is(err, memory.ErrInUse) {
			continue // another process fetches it: the next look finds its stamp
		}
		if err != nil {
			s.log.Warn("a share can't be read, so its memories are not used in answers", "share", space, "error", err)
			g = share.Given{Space: space}
		}
		if err := errors.Join(s.remove(space), s.add(stamp, g)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Collection) remove(space memory.SpaceID) error {
	old := s.shares[space]
	if old == nil {
		return nil
	}
	delete(s.shares, space)
	for _, id := range old.mems {
		delete(s.mems, id)
	}
	for _, id := range old.docs {
		delete(s.docs, id)
	}
	return s.index.Remove(old.docs...)
}

func (s *Collection) add(stamp string, g share.Given) error {
	in := &collected{stamp: stamp, given: g}
	s.shares[g.Space] = in
	if !g.Ended.IsZero() {
		return nil
	}
	var docs []recall.Doc
	for i := range g.Memories {
		if of := &g.Memories[i]; of.Type == memory.Vault || of.Fields.Vault != nil || of.State != memory.Active || of.Negates || of.Repeats {
			continue // no honest owner sends this
		}
		m := &Memory{Memory: g.Memories[i], By: serve.SharedBy{By: cmp.Or(g.By[g.Memories[i].ID], nameOf(&g)), Share: g.Space, Order: g.Order, Until: g.Memories[i].Expires}}
		m.ID = idHere(g.Space, m.ID)
		m.Space, m.Owner = g.Space, memory.Owner{User: "shared by " + m.By.By}
		m.Pinned, m.Links, m.Into, m.Conflict, m.Source = false, nil, memory.ID{}, nil, memory.Source{}
		m.Sensitivity = max(m.Sensitivity, memory.Personal) // what its owner calls public does not become public here
		in.mems = append(in.mems, m.ID)
		s.mems[m.ID] = m
		for _, d := range engine.Documents(&m.Memory) {
			in.docs = append(in.docs, d.ID)
			s.docs[d.ID] = m
			docs = append(docs, d)
		}
	}
	return s.index.Add(docs...)
}

// nameOf returns the wearer's name for the person who shares.
func nameOf(g *share.Given) string { return cmp.Or(g.From, "share "+g.Space.String()[:10]) }

// idHere returns the id of a given memory that is used here.
func idHere(space memory.SpaceID, id memory.ID) memory.ID {
	h := sha256.New()
	io.WriteString(h, "locket given memory\n")
	h.Write(space[:])
	h.Write(id[:])
	return memory.ID(h.Sum(nil)[:16])
}

// Search finds given memories among those that fits allows; if fits is nil, among all. It
// uses only the times, types and words of q. A share that has expired or was revoked is
// not searched.
func (s *Collection) Search(ctx context.Context, q recall.Query, fits func(*memory.Memory) bool) (a Answer, err error) {
	if s == nil {
		return a, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(ctx); err != nil || len(s.docs) == 0 {
		return a, err
	}
	now := s.now()
	q.Wearer = "" // for another person's memories, "I" is nobody
	q.Models, q.Kinds, q.Past, q.Apart = recall.Models{}, []recall.Kind{recall.Memory}, false, false
	q.Glance, q.Allow = nil, func(a recall.About) bool {
		m := s.docs[a.ID]
		return m != nil && alive(m, now) && (fits == nil || fits(&m.Memory))
	}
	if q.IsShown != nil { // the asker may see only some memories, and only these may be used to understand the question
		q.IsShown = q.Allow
	}
	q.Holds = func(id memory.ID, p recall.Phrase) bool { m := s.docs[id]; return m != nil && p.In(m.AllText()) }
	found, err := s.index.Search(ctx, q)
	if err != nil {
		return a, err
	}
	a.Confidence, a.Shape = found.Confidence, found.Shape
	for _, h := range found.Hits {
		m := s.docs[h.ID]
		hit := Hit{Memory: *m, Score: h.Score, Parts: h.Parts, Chunk: engine.ChunkOf(&m.Memory, h.ID)}
		for i := 0; i < len(h.Also) && hit.Chunk == nil; i++ {
			hit.Chunk = engine.ChunkOf(&m.Memory, h.Also[i])
		}
		a.Hits = append(a.Hits, hit)
	}
	return a, nil
}

func alive(m *Memory, now time.Time) bool { return m.Expires.IsZero() || now.Before(m.Expires) }

// Find returns the memory whose id is, or begins with, the given text. Errors:
// memory.ErrNotFound, memory.ErrAmbiguous.
func (s *Collection) Find(ctx context.Context, text string) (out Memory, err error) {
	none := fmt.Errorf("memory %.40q: %w", text, memory.ErrNotFound)
	if s == nil {
		return out, none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(ctx); err != nil {
		return out, err
	}
	now, found := s.now(), 0
	for id, m := range s.mems {
		if alive(m, now) && strings.HasPrefix(id.String(), strings.ToLower(text)) {
			out, found = *m, found+1
		}
	}
	switch found {
	case 0:
		return out, none
	case 1:
		return out, nil
	}
	return Memory{}, fmt.Errorf("memory %.40q: %w", text, memory.ErrAmbiguous)
}

// Shares returns what is shared with the wearer and what was bought, with its memories,
// the latest opened first.
func (s *Collection) Shares(ctx context.Context) ([]serve.GivenShare, error) {
	out := []serve.GivenShare{}
	if s == nil {
		return out, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	now := s.now()
	for _, space := range sorting.Sorted(maps.Keys(s.shares), func(a, b memory.SpaceID) int {
		return cmp.Or(s.shares[b].given.Opened.Compare(s.shares[a].given.Opened), bytes.Compare(a[:], b[:]))
	}) {
		in := s.shares[space]
		g := serve.GivenShare{ID: space, By: nameOf(&in.given), Order: in.given.Order, Title: in.given.Title, Relay: in.given.Link.Relay, Opened: in.given.Opened, Fetched: in.given.Fetched, Until: in.given.Until,
			Ended: in.given.Ended, Memories: []memory.Memory{}}
		for _, id := range in.mems {
			if m := s.mems[id]; alive(m, now) {
				g.Memories = append(g.Memories, m.Memory)
			}
		}
		if g.Order == "" || len(g.Memories) > 0 { // otherwise it has expired, was not delivered, or was refunded
			out = append(out, g)
		}
	}
	return out, nil
}

// refreshEvery is how often the relays are asked for new content of the shares, and the
// markets for the state of open orders.
const refreshEvery = 10 * time.Minute

// patience is how long one share may take to be refreshed. If its relay has not ended by then, the
// relay's other shares wait for the next time, so that it does not hold up those of others.
const patience = 5 * time.Minute

// Maintain keeps the collection fresh until the context ends.
func (s *Collection) Maintain(ctx context.Context) {
	for {
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("what others share: will be tried again", "error", err)
		}
		if !wait.For(ctx, refreshEvery) {
			return
		}
	}
}

// Refresh fetches new content, and removes the files of shares that have expired or are
// not served any more. Bought content that has expired is not found any more; its order
// stays, as the receipt.
func (s *Collection) Refresh(ctx context.Context) error {
	s.mu.Lock()
	err := s.look(ctx)
	links := map[memory.SpaceID]share.Link{}
	var gone []memory.SpaceID
	for space, in := range s.shares {
		switch g := &in.given; {
		case g.Order != "", g.Community:
		case !g.Ended.IsZero(), !g.Until.IsZero() && !s.now().Before(g.Until):
			gone = append(gone, space)
		case g.Link.Relay != "":
			links[space] = g.Link
		}
	}
	s.mu.Unlock()
	errs, late := []error{err}, map[string]bool{}
	for space, link := range links { // without the lock, because the network may take long
		if late[link.Relay] {
			continue
		}
		within, cancel := context.WithTimeout(ctx, s.patience)
		_, err := s.reader.Open(within, link)
		late[link.Relay] = within.Err() != nil
		cancel()
		if errors.Is(err, share.ErrNotShared) {
			s.log.Info("a share is no longer served, and is removed", "share", space)
			gone, err = append(gone, space), nil
		}
		errs = append(errs, err)
	}
	for _, o := range s.others {
		errs = append(errs, o.Fetch(ctx))
	}
	for _, space := range gone {
		errs = append(errs, s.reader.Drop(space))
	}
	return errors.Join(errs...)
}
