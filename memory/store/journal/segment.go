package journal

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
)

// writer is the segment that is being written.
type writer struct {
	seg   *segment
	f     file
	box   *box
	fresh bool // its name may not be on the disk yet
}

func createFile(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
}

// beginSegment makes a new live segment and returns its header, which is
// written with the first frames. The caller holds turn.
func (j *Journal) beginSegment() ([]byte, error) {
	number, previous := uint32(1), uint32(0)
	j.mu.Lock()
	if n := len(j.segments); n > 0 {
		number, previous = j.segments[n-1].number+1, j.segments[n-1].count
	}
	j.mu.Unlock()
	if number > maxNumber {
		return nil, fmt.Errorf("segment %d: no more numbers", number)
	}
	key := seal.NewKey()
	defer key.Zero()
	h, err := newHeader(number, previous, j.opt.Now(), j.to, key)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(j.dir, fileName(number))
	f, err := j.make(path)
	if err != nil {
		return nil, err
	}
	s := &segment{number: number, path: path, known: true, live: true}
	j.live = &writer{seg: s, f: f, box: newBox(key, h.raw), fresh: true}
	j.mu.Lock()
	j.segments = append(j.segments, s)
	j.mu.Unlock()
	return h.raw, nil
}

// put writes buf to the live segment, which then has count entries, and syncs
// it. After an error it abandons the segment. The caller holds turn.
func (j *Journal) put(buf []byte, count uint32) error {
	w := j.live
	_, err := w.f.Write(buf)
	if err == nil {
		err = w.f.Sync()
	}
	if err == nil && w.fresh {
		err = atomicfile.SyncDir(j.dir)
	}
	if err != nil {
		j.abandon()
		return err
	}
	w.fresh = false
	j.mu.Lock()
	w.seg.size += int64(len(buf))
	w.seg.count = count
	j.mu.Unlock()
	return nil
}

// abandon gives up the live segment after an error. When a sync fails, the kernel drops the
// unwritten data and reports the error only once, so neither a second sync nor the kernel's cache
// can be trusted. If possible, the segment is truncated to its acknowledged entries, or removed if
// it has none.
func (j *Journal) abandon() {
	w := j.live
	j.live = nil
	if w.seg.size > 0 {
		_ = w.f.Truncate(w.seg.size) // a reader skips the rest if this fails
	}
	_ = w.f.Close()
	removed := w.seg.size == 0 && os.Remove(w.seg.path) == nil
	j.mu.Lock()
	w.seg.live = false
	if removed {
		j.segments = j.segments[:len(j.segments)-1]
	}
	j.mu.Unlock()
}

// endSegment ends the live segment, if there is one. The caller holds turn. A
// segment without an end frame can still be read, so a full disk loses nothing.
func (j *Journal) endSegment() error {
	w := j.live
	if w == nil {
		return nil
	}
	end := w.box.seal(nil, seqOf(w.seg.number, w.seg.count), nil, true)
	if err := j.put(end, w.seg.count); err != nil {
		return err
	}
	j.live = nil
	err := w.f.Close()
	j.mu.Lock()
	w.seg.live = false
	j.mu.Unlock()
	return err
}

// Rotate ends the live segment and begins a new one, so that [Journal.Release]
// can delete every released segment.
func (j *Journal) Rotate() error {
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	j.mu.Lock()
	closed, empty := j.closed, len(j.segments) == 0
	j.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if empty {
		return nil
	}
	err := j.endSegment()
	if err == nil {
		var head []byte
		if head, err = j.beginSegment(); err == nil {
			err = j.put(head, 0)
		}
	}
	if err != nil {
		return fmt.Errorf("rotate journal: %w", noSpace(err))
	}
	return nil
}

// Release deletes the segments whose entries all have a seq of at most upTo.
// The newest segment stays, because its number prevents seqs from being used
// twice.
func (j *Journal) Release(upTo uint64) error {
	number, index := uint32(upTo>>indexBits), uint32(upTo)
	j.mu.Lock()
	defer j.mu.Unlock()
	done := 0
	for done < len(j.segments)-1 {
		s := j.segments[done]
		if s.number > number || s.number == number && (!s.known || s.count > index) {
			break
		}
		if err := os.Remove(s.path); err != nil && !os.IsNotExist(err) {
			j.drop(done)
			return fmt.Errorf("release journal: %w", err)
		}
		done++
	}
	j.drop(done)
	return nil
}

func (j *Journal) drop(n int) {
	if n > 0 {
		j.released = j.segments[n-1].number
	}
	j.segments = append([]*segment(nil), j.segments[n:]...)
}
