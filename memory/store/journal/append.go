package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/memory"
)

// maxBatch is the greatest number of bytes of entries in one commit, unless a
// single append is larger.
const maxBatch = 1 << 20

// request is a call of Append that waits for its commit.
type request struct {
	entries [][]byte
	size    int64 // of the frames, in bytes
	first   uint64
	err     error
	done    chan struct{}
}

func (q *request) finish(first uint64, err error) {
	q.first, q.err = first, err
	close(q.done)
}

// Append writes entries, all or none. It returns the seq of the first entry
// when all are synced to disk; the seqs of the others follow one by one. Calls
// that come while another call's sync is running share the next sync.
//
// Append writes nothing and returns [memory.ErrNoSpace] if less than the
// reserve would stay free. After any error the entries are not acknowledged,
// and the caller has to send them again. If the sync failed, they may still be
// on the disk, so that a reader can see an entry twice. If the context ends
// before writing has begun, Append returns the context's error.
func (j *Journal) Append(ctx context.Context, entries ...[]byte) (uint64, error) {
	q := &request{entries: entries, done: make(chan struct{})}
	for _, e := range entries {
		if len(e) > MaxEntry {
			return 0, fmt.Errorf("append to journal: %w: %d bytes, at most %d", ErrSize, len(e), MaxEntry)
		}
		q.size += int64(frameHead + len(e) + tagSize)
	}
	if len(entries) == 0 {
		return 0, fmt.Errorf("append to journal: %w: no entry", ErrSize)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return 0, ErrClosed
	}
	j.pending = append(j.pending, q)
	j.mu.Unlock()

	select {
	case <-q.done:
	case <-ctx.Done():
		if j.withdraw(q) {
			return 0, ctx.Err()
		}
	case j.turn <- struct{}{}:
		for j.isPending(q) {
			j.commit()
		}
		<-j.turn
	}
	<-q.done
	return q.first, q.err
}

func (j *Journal) isPending(q *request) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Contains(j.pending, q)
}

// withdraw takes back a request if nobody has begun to write it.
func (j *Journal) withdraw(q *request) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.pending, q)
	if i < 0 {
		return false
	}
	j.pending = slices.Delete(j.pending, i, i+1)
	return true
}

// commit writes and syncs waiting requests, up to maxBatch. The caller holds
// turn.
func (j *Journal) commit() {
	batch, size := j.nextBatch()
	entries := 0
	for _, q := range batch {
		entries += len(q.entries)
	}
	firsts, err := j.write(batch, size)
	if err != nil {
		err = fmt.Errorf("append to journal: %w", err)
	}
	j.mu.Lock()
	if err != nil {
		j.stats.Refused += int64(entries)
	} else {
		j.stats.Appended += int64(entries)
		j.stats.Commits++
		if !j.closed {
			close(j.grew)
			j.grew = make(chan struct{})
		}
	}
	j.mu.Unlock()
	for i, q := range batch {
		if err != nil {
			q.finish(0, err)
		} else {
			q.finish(firsts[i], nil)
		}
	}
}

func (j *Journal) nextBatch() (batch []*request, size int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for n < len(j.pending) && (n == 0 || size+j.pending[n].size <= maxBatch) {
		size += j.pending[n].size
		n++
	}
	batch = slices.Clone(j.pending[:n])
	j.pending = slices.Delete(j.pending, 0, n)
	return batch, size
}

// write writes a batch to the live segment. After an error there is no live
// segment.
func (j *Journal) write(batch []*request, size int64) ([]uint64, error) {
	if err := j.room(size); err != nil {
		return nil, err
	}
	if j.live != nil && j.live.seg.size >= j.opt.MaxSegment {
		if err := j.endSegment(); err != nil {
			return nil, noSpace(err)
		}
	}
	buf := j.buf[:0]
	if j.live == nil {
		head, err := j.beginSegment()
		if err != nil {
			return nil, noSpace(err)
		}
		buf = append(buf, head...)
	}
	firsts := make([]uint64, len(batch))
	index := j.live.seg.count
	for i, q := range batch {
		firsts[i] = seqOf(j.live.seg.number, index+1)
		for _, e := range q.entries {
			index++
			buf = j.live.box.seal(buf, seqOf(j.live.seg.number, index), e, false)
		}
	}
	if cap(buf) <= 2*maxBatch {
		j.buf = buf
	}
	if err := j.put(buf, index); err != nil {
		return nil, noSpace(err)
	}
	return firsts, nil
}

// room returns an error if size bytes would leave less than the reserve.
func (j *Journal) room(size int64) error {
	if j.opt.Reserve < 0 {
		return nil
	}
	free, err := j.opt.Free(j.dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", j.dir, err)
	}
	if need := uint64(j.opt.Reserve + size); free < need {
		return fmt.Errorf("%w: %d bytes free in %s, %d needed", memory.ErrNoSpace, free, j.dir, need)
	}
	return nil
}

// noSpace marks errors of a full disk, of a quota, or of a file size limit.
func noSpace(err error) error {
	if diskspace.IsFull(err) {
		return fmt.Errorf("%w: %w", memory.ErrNoSpace, err)
	}
	return err
}
