package envstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// FolderSync is the result of an exchange with a folder.
type FolderSync struct {
	Took    int      `json:"took"`    // deltas that were new here
	Gave    int      `json:"gave"`    // deltas that were new there
	Blobs   int      `json:"blobs"`   // copied in either direction
	Trouble []string `json:"trouble"` // files in the folder that do not belong to the space
}

// SyncFolder exchanges with a folder: it takes what this device lacks, and writes
// what the folder lacks. Several devices may do so at the same time. The
// folder gets the same checks as a relay. A file that is no envelope of the
// space is reported, stays in the folder, and is never taken. self is this
// device; bodies of its own that it has removed are removed in the folder,
// too. wanted lists the blobs that this device can use, with the greatest
// number of sealed bytes of each. nil means none.
func (s *Store) SyncFolder(ctx context.Context, f *Folder, self memory.MemberID, wanted map[envelope.Hash]int64) (FolderSync, error) {
	m := FolderSync{Trouble: []string{}}
	if err := s.exchangeLog(f, &m); err != nil {
		return m, err
	}
	theirs, err := f.chains(maxChains)
	if err != nil {
		return m, err
	}
	if m.Took, err = s.takeAll(ctx, f, theirs, envelope.MaxIncarnations, &m); err != nil {
		return m, err
	}
	if err := s.copyDeltasTo(ctx, f, theirs, self, &m); err != nil {
		return m, err
	}
	return m, s.exchangeBlobs(ctx, f, wanted, &m)
}

// takeAll takes deltas. It repeats this until no more can be taken, because a
// delta may need a log entry or a delta of another chain first. most is the
// greatest number of chains that are taken of a member.
func (s *Store) takeAll(ctx context.Context, f *Folder, theirs map[chain][]uint64, most int, m *FolderSync) (all int, err error) {
	for {
		took, err := s.takeFrom(ctx, f, theirs, most, m)
		if all += took; err != nil || took == 0 {
			return all, err
		}
	}
}

func (m *FolderSync) trouble(what string, err error) {
	text := fmt.Sprintf("%s: %v", what, err)
	if len(m.Trouble) < maxTrouble && !slices.Contains(m.Trouble, text) {
		m.Trouble = append(m.Trouble, text)
	}
}

func (s *Store) exchangeLog(f *Folder, m *FolderSync) error {
	if err := s.takeLog(f, m); err != nil {
		return err
	}
	s.mu.Lock()
	mine := slices.Clone(s.entries)
	s.mu.Unlock()
	for _, b := range mine {
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return err
		}
		if err := f.putEntry(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) takeLog(f *Folder, m *FolderSync) error {
	entries, err := f.entries(func(name string, err error) error { m.trouble("log/"+name, err); return nil })
	if err != nil {
		return err
	}
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = s.TakeEntry(e)
		}
		var fork *envelope.ForkError
		if errors.As(err, &fork) {
			return err // such a folder is not used at all
		}
		if err != nil && !isForeign(err) {
			return err
		}
		if err != nil {
			m.trouble("log", err)
		}
	}
	return nil
}

// longest returns the chains sorted by length, the longest first. If a member
// has too many chains, the longest are taken.
func longest(theirs map[chain][]uint64) []chain {
	return sorting.Sorted(maps.Keys(theirs), func(a, b chain) int {
		return cmp.Or(cmp.Compare(len(theirs[b]), len(theirs[a])), a.member.Compare(b.member), cmp.Compare(a.incarnation, b.incarnation))
	})
}

func (s *Store) takeFrom(ctx context.Context, f *Folder, theirs map[chain][]uint64, most int, m *FolderSync) (took int, err error) {
	for _, c := range longest(theirs) {
		seqs := theirs[c]
		s.mu.Lock()
		have := s.links[c].Seq
		s.mu.Unlock()
		if forked, err := s.forked(f, c, seqs, have, m); err != nil || forked {
			if err != nil {
				return took, err
			}
			continue // the rest of its chain can't be taken
		}
		for _, seq := range seqs {
			if seq <= have {
				continue
			}
			if ctx.Err() != nil {
				return took, ctx.Err()
			}
			d, err := f.delta(c, seq)
			var fresh bool
			if err == nil {
				if fresh, err = s.takeDelta(d, most); err != nil && !isForeign(err) {
					return took, err
				}
			}
			if err != nil {
				m.trouble(fmt.Sprintf("%s/%d", c, seq), err)
				break // the rest of its chain can't be taken either
			}
			if fresh {
				took++
			}
		}
	}
	return took, nil
}

// forked compares the last delta of a chain that both have. If they
// differ, the author signed two histories, and forked reports it. One
// comparison is enough, because each header names the one before it.
func (s *Store) forked(f *Folder, c chain, seqs []uint64, have uint64, m *FolderSync) (bool, error) {
	i, found := slices.BinarySearch(seqs, have)
	if !found {
		i--
	}
	if i < 0 {
		return false, nil
	}
	d, err := f.delta(c, seqs[i])
	if err != nil {
		return false, nil // the file is not a valid delta, and was never taken
	}
	_, err = s.TakeDelta(d)
	if _, ok := errors.AsType[*envelope.ForkError](err); ok {
		m.trouble(fmt.Sprintf("space %s: %s/%d", s.space, c, seqs[i]), err)
		return true, nil
	}
	if err != nil && !isForeign(err) {
		return false, err
	}
	return false, nil
}

func (s *Store) copyDeltasTo(ctx context.Context, f *Folder, theirs map[chain][]uint64, self memory.MemberID, m *FolderSync) error {
	done := map[chain]uint64{}
	for _, r := range s.since(0) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c := chain{r.Member, r.Incarnation}
		s.mu.Lock()
		_, gone := s.gone[r]
		s.mu.Unlock()
		if r.Seq <= done[c] {
			continue // the order names it twice
		}
		done[c] = r.Seq
		_, there := slices.BinarySearch(theirs[c], r.Seq)
		if there && !(gone && r.Member == self) {
			continue
		}
		d, err := s.read(r)
		if err != nil {
			return err
		}
		if there {
			if other, err := f.delta(c, r.Seq); err == nil && other.Body == nil {
				continue
			}
		} else {
			m.Gave++
		}
		if err := f.put(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) exchangeBlobs(ctx context.Context, f *Folder, wanted map[envelope.Hash]int64, m *FolderSync) error {
	mine, err := s.folder.blobs()
	if err != nil {
		return err
	}
	for _, id := range mine {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if copied, err := copyBlob(s.folder, f, id, maxBlob); err != nil {
			return err
		} else if copied {
			m.Blobs++
		}
	}
	return s.takeBlobs(f, wanted, m)
}

func (s *Store) takeBlobs(f *Folder, wanted map[envelope.Hash]int64, m *FolderSync) error {
	for id, limit := range wanted {
		copied, err := copyBlob(f, s.folder, id, limit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.trouble("blob", err)
		} else if copied {
			m.Blobs++
		}
	}
	return nil
}

func copyBlob(from, to *Folder, id envelope.Hash, limit int64) (bool, error) {
	if _, err := os.Lstat(to.blobPath(id)); err == nil {
		return false, nil
	}
	if info, err := os.Lstat(from.blobPath(id)); err != nil || !info.Mode().IsRegular() {
		return false, errors.Join(err, fs.ErrNotExist)
	}
	f, err := from.openBlob(id)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return true, to.putBlob(id, f, limit)
}
