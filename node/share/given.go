package share

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// MaxGiven is how many memories of one share a reader uses at most. An honest
// owner stays within [MaxCopies].
const MaxGiven = 2 * MaxCopies

// Given is a reader's part of a share, or of a bundle that was bought.
type Given struct {
	Space memory.SpaceID
	Order string // the order by which it was bought; empty: it is shared
	Title string // title of its listing
	// Community says that it is a community. By has, for each memory, the member
	// who added it.
	Community bool
	By        map[memory.ID]string
	Link      Link      // for a bundle, only the address of its market
	From      string    // the name that the reader gave to the owner, or empty
	Opened    time.Time // the first time, by this machine's clock
	Fetched   time.Time // the last time the relay answered
	Ended     time.Time // since when the relay no longer serves it; zero: it still does
	Until     time.Time // when the last memory expires; zero: when it is revoked
	Memories  []memory.Memory
}

// givenNote is what a reader stores about a share, in its sealed store.
type givenNote struct {
	Link   string    `json:"link"`
	From   string    `json:"from,omitempty"`
	Opened time.Time `json:"opened"`
	Ended  time.Time `json:"ended,omitzero"`
}

const (
	givenMeta = "given"
	// stampFile has a random word that is replaced when a share changes, so
	// that other processes notice the change. It contains nothing else.
	stampFile = "stamp"
)

// Name stores the name that the reader gives to the owner of a share. The share
// must have been opened before.
func (r *Reader) Name(ctx context.Context, space memory.SpaceID, from string) error {
	if len(from) > memory.MaxName {
		return fmt.Errorf("%w: from: %d bytes, at most %d", memory.ErrInvalid, len(from), memory.MaxName)
	}
	return r.note(ctx, space, func(n *givenNote) { n.From = strings.TrimSpace(from) })
}

func (r *Reader) note(ctx context.Context, space memory.SpaceID, change func(*givenNote)) error {
	s, done, err := r.openFetched(space)
	if err != nil {
		return err
	}
	return errors.Join(r.noteIn(ctx, s, space, change), done())
}

func (r *Reader) noteIn(ctx context.Context, s *store.Store, space memory.SpaceID, change func(*givenNote)) error {
	err := s.Update(ctx, func(tx *store.Tx) error {
		var n givenNote
		if _, err := tx.Meta(givenMeta, &n); err != nil {
			return err
		}
		change(&n)
		return tx.PutMeta(givenMeta, n)
	})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(r.folder(space), stampFile), []byte(rand.Text()))
}

// openFetched opens the store of a share that was opened before.
func (r *Reader) openFetched(space memory.SpaceID) (*store.Store, func() error, error) {
	if _, err := os.Stat(filepath.Join(r.folder(space), genesisFile)); err != nil {
		return nil, nil, fmt.Errorf("share %s: nothing of it was fetched: %w", space, memory.ErrNotFound)
	}
	d, err := r.Device()
	if err != nil {
		return nil, nil, err
	}
	defer d.Zero()
	s, err := r.store(d, space)
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// Spaces returns the shares that were opened, each with a stamp that changes
// whenever its stored part does.
func (r *Reader) Spaces() (map[memory.SpaceID]string, error) {
	out := map[memory.SpaceID]string{}
	entries, err := os.ReadDir(filepath.Join(r.Dir, sharesFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("shares: %w", err)
	}
	for _, e := range entries {
		id, err := memory.ParseID(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(r.Dir, sharesFolder, e.Name(), stampFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being fetched for the first time, or was removed
		}
		if err != nil {
			return nil, fmt.Errorf("shares: %w", err)
		}
		out[memory.SpaceID(id)] = string(b)
	}
	return out, nil
}

// Given returns the stored part of a share, without asking the relay. The
// newest memories come first, at most [MaxGiven]. Expired ones are left out.
func (r *Reader) Given(ctx context.Context, space memory.SpaceID) (g Given, err error) {
	g.Space = space
	s, done, err := r.openFetched(space)
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var n givenNote
	err = s.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(givenMeta, &n); return err })
	if err != nil {
		return g, err
	}
	if g.Link, err = ParseLink(n.Link); err != nil {
		return g, fmt.Errorf("share %s: its link: %w", space, err)
	}
	g.From, g.Opened, g.Ended = n.From, n.Opened, n.Ended
	if g.Fetched, err = fetchedOf(ctx, s, space); err != nil {
		return g, err
	}
	all, err := r.active(ctx, s)
	if err != nil {
		return g, err
	}
	lapses := len(all) > 0
	for _, m := range all {
		lapses = lapses && !m.Expires.IsZero()
		if m.Expires.After(g.Until) {
			g.Until = m.Expires
		}
	}
	g.Memories = all
	if !lapses {
		g.Until = time.Time{}
	}
	sorting.Sort(g.Memories, func(a, b memory.Memory) int { return b.Learnt.Compare(a.Learnt) })
	g.Memories = g.Memories[:min(len(g.Memories), MaxGiven)]
	return g, nil
}

// Drop deletes the stored part of a share. The owner is not told.
func (r *Reader) Drop(space memory.SpaceID) error {
	if _, err := os.Stat(r.folder(space)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("share %s: %w", space, memory.ErrNotFound)
	}
	if s, done, err := r.openFetched(space); err == nil {
		_ = s // so no other process has it open and could write into the folder
		if err := done(); err != nil {
			return err
		}
	} else if errors.Is(err, memory.ErrInUse) {
		return fmt.Errorf("share %s: %w", space, err)
	}
	// The stamp is removed first, so that no process reads the folder from now
	// on.
	err := os.Remove(filepath.Join(r.folder(space), stampFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("share %s: %w", space, err)
	}
	return os.RemoveAll(r.folder(space))
}
