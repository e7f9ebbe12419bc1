package envstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// IsCorrupt reports whether err means that the content of the store's files is
// wrong. It is false for errors of the disk.
func IsCorrupt(err error) bool {
	for _, disk := range []bool{is[*fs.PathError](err), is[*os.LinkError](err), is[*os.SyscallError](err), is[syscall.Errno](err)} {
		if disk && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	stopped := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return err != nil && !stopped && !errors.Is(err, memory.ErrNoSpace)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Check reads the whole store and reports every difference from what was
// taken: missing or other deltas, lines without a delta, blobs with other
// bytes. It changes nothing. err means that the store could not be read.
func (s *Store) Check(ctx context.Context) (found []error, err error) {
	note := func(e error) {
		if IsCorrupt(e) {
			found = append(found, e)
		} else {
			err = errors.Join(err, e)
		}
	}
	chains, e := s.folder.chains(math.MaxInt)
	if e != nil {
		return nil, e
	}
	for c, seqs := range chains {
		if e := s.checkChain(ctx, c, seqs); e != nil {
			note(e)
		}
	}
	for _, r := range s.since(0) {
		if _, there := slices.BinarySearch(chains[chain{r.Member, r.Incarnation}], r.Seq); !there {
			note(fmt.Errorf("order: %s of %s: %w: it is not here", r.Position, r.Member, memory.ErrDamaged))
		}
	}
	blobs, e := s.folder.blobs()
	if e != nil {
		return nil, e
	}
	for _, id := range blobs {
		if e := s.checkBlob(ctx, id); e != nil {
			note(e)
		}
	}
	if _, e := s.deleted(); e != nil {
		note(e)
	}
	if _, e := s.blobsToAskFor(); e != nil {
		note(e)
	}
	return found, errors.Join(err, ctx.Err())
}

func (s *Store) checkChain(ctx context.Context, c chain, seqs []uint64) error {
	var last envelope.Link
	for _, seq := range seqs {
		if ctx.Err() != nil {
			return nil
		}
		d, err := s.folder.delta(c, seq)
		if err == nil {
			err = last.Check(&d.Header)
		}
		if err == nil {
			s.mu.Lock()
			m, ok := s.log.Member(c.member)
			if !ok {
				m, _, _ = s.log.Past(c.member)
			}
			s.mu.Unlock()
			err = d.Verify(m.Key)
		}
		if err != nil {
			return fmt.Errorf("delta %s/%d: %w", c, seq, err)
		}
		last = d.Header.Next()
	}
	return nil
}

func (s *Store) checkBlob(ctx context.Context, id envelope.Hash) error {
	f, err := s.folder.openBlob(id)
	if errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
		return nil // the blob was deleted meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if envelope.Hash(sum.Sum(nil)) != id {
		return fmt.Errorf("blob %s: %w", id, replica.ErrBlob)
	}
	return nil
}

// HasDelta reports whether the store has a delta, with or without its body.
func (s *Store) HasDelta(r replica.Ref) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.Seq <= s.links[chain{r.Member, r.Incarnation}].Seq
}

// ChainEnds returns the last sequence number of each chain in the store. A key
// is MEMBER-INCARNATION, 16 hexadecimal digits each.
func (s *Store) ChainEnds() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]uint64{}
	for c, l := range s.links {
		out[c.String()] = l.Seq
	}
	return out
}

// Refill takes everything valid from a broken store that was moved to the
// folder aside. All content gets the same checks as content of a remote, and
// what is no envelope of the space is reported. Removals of bodies are kept.
// wanted is as in [Store.SyncFolder].
func (s *Store) Refill(ctx context.Context, aside string, wanted map[envelope.Hash]int64) (FolderSync, error) {
	m := FolderSync{Trouble: []string{}}
	f := OpenFolder(aside, s.space)
	if err := s.takeLog(f, &m); err != nil {
		return m, err
	}
	theirs, err := f.chains(math.MaxInt)
	if err != nil {
		return m, err
	}
	if m.Took, err = s.takeAll(ctx, f, theirs, math.MaxInt, &m); err != nil {
		return m, err
	}
	gone, err := readRefs(filepath.Join(f.dir, "gone"))
	if errors.Is(err, memory.ErrDamaged) {
		m.trouble("gone", err) // the replica removes them again when it reads the erasures
		gone, err = nil, nil
	}
	if err != nil {
		return m, err
	}
	if err := s.Forget(ctx, gone); err != nil {
		return m, err
	}
	old := Store{root: f.dir}
	if deleted, err := old.deleted(); err != nil {
		m.trouble("unblob", err)
	} else {
		for _, id := range deleted {
			delete(wanted, id)
		}
	}
	return m, s.takeBlobs(f, wanted, &m)
}
