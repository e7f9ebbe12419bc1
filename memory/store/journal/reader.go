package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/seal"
)

// Entry is one decrypted entry.
type Entry struct {
	Seq  uint64
	Data []byte
}

// CorruptError describes written data that can't be read. It wraps
// [ErrCorrupt]. The reader continues after it.
type CorruptError struct {
	File   string // name of the segment, in the journal's folder
	Offset int64  // of the damage, in bytes
	First  uint64 // the lost seqs are First to Last; both are 0 if none is lost, or if none is known
	Last   uint64 // if the number of entries in a segment is unknown, the greatest possible one
	Reason string
}

// Error names the segment, the offset and the lost seqs.
func (e *CorruptError) Error() string {
	s := fmt.Sprintf("%v: %s at byte %d: %s", ErrCorrupt, e.File, e.Offset, e.Reason)
	switch {
	case e.First == 0:
	case uint32(e.Last) == math.MaxUint32:
		s += "; all of its entries are lost"
	default:
		s += fmt.Sprintf("; entries %d to %d of it are lost", uint32(e.First), uint32(e.Last))
	}
	return s
}

// Unwrap returns [ErrCorrupt].
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// Reader reads the entries in order. Only one goroutine may use it.
type Reader struct {
	j    *Journal
	id   *seal.Identity
	from uint64

	number uint32 // the segment that is being read, or was read last
	seg    *segment
	f      *os.File
	walk   *walker
	box    *box
	queued *Entry // an entry found after damage; the damage is returned first
}

// Reader returns a reader that starts at the first entry whose seq is at least
// from. The caller keeps the identity, and has to erase it after the reader's
// last Next. If the identity is not the journal's, Reader returns
// [ErrIdentity].
func (j *Journal) Reader(id *seal.Identity, from uint64) (*Reader, error) {
	if !id.Recipient().Equal(j.to) {
		return nil, ErrIdentity
	}
	return &Reader{j: j, id: id, from: from}, nil
}

// Next returns the next entry, and waits if there is none yet. For damage it
// returns a [CorruptError] once; the next call continues after it. After the
// journal was closed, the remaining entries can be read, and then Next returns
// [ErrClosed]. Other errors are repeated until their cause is removed.
func (r *Reader) Next(ctx context.Context) (Entry, error) {
	for {
		e, grew, err := r.poll()
		if err != nil || grew == nil {
			return e, err
		}
		select {
		case <-ctx.Done():
			return Entry{}, ctx.Err()
		case <-grew:
		}
	}
}

// Close closes the reader. It does not change the journal.
func (r *Reader) Close() error { return r.leave() }

func (r *Reader) leave() error {
	f := r.f
	r.seg, r.f, r.walk, r.box = nil, nil, nil, nil
	if f == nil {
		return nil
	}
	return f.Close()
}

// poll returns an entry, an error, or the channel to wait on.
func (r *Reader) poll() (Entry, <-chan struct{}, error) {
	for {
		if r.queued != nil {
			e := *r.queued
			r.queued = nil
			return e, nil, nil
		}
		if r.seg == nil {
			grew, err := r.enter()
			if err != nil || grew != nil {
				return Entry{}, grew, err
			}
			continue
		}
		r.j.mu.Lock()
		now, grew, closed := *r.seg, r.j.grew, r.j.closed
		r.j.mu.Unlock()
		e, err := r.read(now)
		switch {
		case errors.Is(err, io.EOF) && now.live && closed:
			return Entry{}, nil, ErrClosed
		case errors.Is(err, io.EOF) && now.live:
			return Entry{}, grew, nil
		case errors.Is(err, io.EOF):
			if err := r.finish(now); err != nil {
				return Entry{}, nil, err
			}
		case err != nil:
			return Entry{}, nil, err
		case e != nil && e.Seq >= r.from:
			return *e, nil, nil
		}
	}
}

// enter opens the next segment, or returns the channel to wait on. If it does
// neither, a segment has to be skipped.
func (r *Reader) enter() (<-chan struct{}, error) {
	r.j.mu.Lock()
	defer r.j.mu.Unlock()
	var s *segment
	for _, c := range r.j.segments {
		if c.number > r.number && c.number >= uint32(r.from>>indexBits) {
			s = c
			break
		}
	}
	if s == nil || s.live && s.size == 0 {
		if r.j.closed {
			return nil, ErrClosed
		}
		return r.j.grew, nil
	}
	if missing := max(r.number, r.j.released) + 1; r.number != 0 && s.number > missing {
		r.number = s.number - 1
		return nil, &CorruptError{File: fileName(missing), Reason: fmt.Sprintf("gone, and %d segments with it", s.number-missing-1),
			First: seqOf(missing, 1), Last: seqOf(s.number-1, math.MaxUint32)}
	}
	f, err := os.Open(s.path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			r.number = s.number
			return nil, corruptError(s, 0, "gone", 1, s.count)
		}
		return nil, fmt.Errorf("read journal: %w", err)
	}
	r.number, r.seg, r.f = s.number, s, f
	if err := r.begin(); err != nil {
		return nil, err
	}
	return nil, nil
}

// begin reads the header. The caller holds mu. If the header is damaged,
// nothing in the segment can be decrypted.
func (r *Reader) begin() error {
	s := r.seg
	b := make([]byte, min(s.size, headFixed+maxWrapped+macSize))
	if err := readFull(r.f, b, 0); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return r.retry(err)
	}
	h, err := parseHeader(b, r.number)
	if err == nil {
		r.box, err = h.open(r.id)
	}
	switch {
	case err == nil:
		r.walk = &walker{f: r.f, number: r.number, off: int64(len(h.raw)), next: 1}
		return nil
	case errors.Is(err, seal.ErrZeroed):
		return r.retry(err)
	}
	_ = r.leave()
	if s.known && s.count == 0 {
		return nil // the header is torn, and no entry was acknowledged
	}
	return corruptError(s, 0, "header: "+err.Error(), 1, s.count)
}

// retry leaves the segment, so that the next call begins it again.
func (r *Reader) retry(err error) error {
	_ = r.leave()
	r.number--
	return fmt.Errorf("read journal: %w", err)
}

// read returns the next entry of the segment, nil for a frame without an entry,
// and io.EOF if there is nothing more yet.
func (r *Reader) read(now segment) (*Entry, error) {
	due := r.walk.next
	fr, hole, err := r.walk.step(now.size)
	if hole != nil && !hole.tail {
		fr, _, err = r.walk.step(now.size)
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, r.cut(now)
	case err != nil:
		return nil, fmt.Errorf("read journal: %s: %w", filepath.Base(now.path), err)
	case hole != nil && hole.tail:
		r.walk.next = max(due, now.count+1)
		return nil, r.damage(now, hole.off, "no complete frame", due, now.count)
	}
	last := fr.index - 1 // the last missing entry
	if fr.end {
		last = fr.index
	}
	data, err := r.box.open(fr)
	if err != nil {
		return nil, r.damage(now, fr.off, "seal does not open", due, fr.index)
	}
	if hole == nil && last < due {
		if fr.end {
			return nil, nil
		}
		return &Entry{Seq: seqOf(now.number, fr.index), Data: data}, nil
	}
	off := fr.off
	if hole != nil {
		off = hole.off
	}
	e := &Entry{Seq: seqOf(now.number, fr.index), Data: data}
	damage := r.damage(now, off, "no complete frame", due, last)
	switch {
	case fr.end:
		return nil, damage
	case damage == nil:
		return e, nil
	case e.Seq >= r.from:
		r.queued = e
	}
	return nil, damage
}

// cut returns read's result for a file that is shorter than it was.
func (r *Reader) cut(now segment) error {
	due := r.walk.next
	r.walk.off, r.walk.next = now.size, max(due, now.count+1)
	return r.damage(now, now.size, "file is cut short", due, now.count)
}

// finish leaves a segment that gets no more entries.
func (r *Reader) finish(now segment) error {
	due := r.walk.next
	if err := r.leave(); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	if !now.known || now.count < due {
		return nil
	}
	return r.damage(now, now.size, "file is cut short", due, now.count)
}

// damage returns the error for the entries first to last; none if last is less
// than first. It returns nil if they were never acknowledged, or come before
// the reader's start.
func (r *Reader) damage(s segment, off int64, reason string, first, last uint32) error {
	if s.known && first > s.count || seqOf(s.number, max(first, last)) < r.from {
		return nil
	}
	return corruptError(&s, off, reason, first, last)
}

func corruptError(s *segment, off int64, reason string, first, last uint32) error {
	c := &CorruptError{File: fileName(s.number), Offset: off, Reason: reason}
	if last >= first {
		c.First, c.Last = seqOf(s.number, first), seqOf(s.number, last)
	}
	return c
}
