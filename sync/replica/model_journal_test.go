package replica_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// lines is a member's data in a space in which lines are said and forgotten.
type lines struct {
	live   map[memory.ID]*memory.Utterance
	erased map[memory.ID]bool
}

func newLines() lines {
	return lines{live: map[memory.ID]*memory.Utterance{}, erased: map[memory.ID]bool{}}
}

// take applies an op: an erasure is final, even if it comes first.
func (l *lines) take(op *delta.Op) {
	switch {
	case op.Utterance != nil && !l.erased[op.Utterance.ID]:
		l.live[op.Utterance.ID] = op.Utterance
	case op.Forget != nil:
		for _, id := range op.Forget.Utterances {
			l.erased[id] = true
			delete(l.live, id)
		}
	}
}

// items returns the items of a snapshot, in its order.
func (l *lines) items() (out []delta.Item) {
	for _, u := range l.live {
		out = append(out, delta.Item{Op: delta.Op{Utterance: u}})
	}
	slices.SortFunc(out, func(a, b delta.Item) int { return a.Compare(&b) })
	if len(l.erased) > 0 {
		ids := slices.SortedFunc(maps.Keys(l.erased), func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
		out = append(out, delta.Item{Erased: ids})
	}
	return out
}

// sentDelta is one of the member's own deltas, and what of its content has to be sent again before
// its body is removed.
type sentDelta struct {
	at    envelope.Position
	ops   []delta.Op
	needs []uint64 // numbers in the outbox
	due   bool     // a part of it was forgotten
	gone  bool
}

// memJournal is a replica's journal in memory. After a crash, everything that Save, Sent or Apply
// did is there, or nothing of it.
type memJournal struct {
	self memory.MemberID
	lines
	state    []byte
	chains   [2]map[string]envelope.Link
	entries  [][]byte
	outbox   []replica.Outgoing
	next     uint64
	sent     []*sentDelta
	doubts   map[envelope.Hash]bool
	problems []replica.Problem
	fail     func() bool // returns true if the disk fails now; then the transaction did nothing
}

var errDisk = errors.New("the disk failed")

func (j *memJournal) put(op delta.Op) uint64 {
	j.next++
	j.outbox = append(j.outbox, replica.Outgoing{Seq: j.next, Op: &op})
	return j.next
}

// say does what the member does: it applies an op here, and sends it.
func (j *memJournal) say(op delta.Op) {
	j.lines.take(&op)
	j.put(op)
	j.forgetSent()
}

// forgetSent makes the relay remove the bodies with erased content, after their other content was
// sent again.
func (j *memJournal) forgetSent() {
	j.outbox = slices.DeleteFunc(j.outbox, func(o replica.Outgoing) bool {
		return o.Op.Utterance != nil && j.erased[o.Op.Utterance.ID]
	})
	for _, s := range j.sent {
		dead := slices.ContainsFunc(s.ops, func(op delta.Op) bool { return op.Utterance != nil && j.erased[op.Utterance.ID] })
		if !dead || s.due {
			continue
		}
		s.due = true
		for _, op := range s.ops {
			if op.Utterance == nil && op.RemovedBodies == nil || op.Utterance != nil && !j.erased[op.Utterance.ID] {
				s.needs = append(s.needs, j.put(op))
			}
		}
	}
}

func (j *memJournal) State(context.Context) (s replica.State, err error) {
	if j.state == nil {
		return s, nil
	}
	err = json.Unmarshal(j.state, &s)
	for k, l := range j.chains[0] {
		s.Chains.Put(k, l)
	}
	for k, l := range j.chains[1] {
		s.Read.Put(k, l)
	}
	return s, err
}

func (j *memJournal) save(s replica.State) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	j.state = b
	for i, of := range []replica.Chains{s.Chains, s.Read} {
		if j.chains[i] == nil {
			j.chains[i] = map[string]envelope.Link{}
		}
		for k, l := range of.All() {
			j.chains[i][k] = l
		}
	}
	return nil
}

func (j *memJournal) Save(_ context.Context, s replica.State, entries ...[]byte) error {
	if j.fail() {
		return errDisk
	}
	j.entries = append(j.entries, entries...)
	return j.save(s)
}

func (j *memJournal) Entries(context.Context) ([][]byte, error) { return j.entries, nil }

func (j *memJournal) Outbox(_ context.Context, limit int) ([]replica.Outgoing, error) {
	return slices.Clone(j.outbox[:min(limit, len(j.outbox), 3)]), nil // small deltas, so that there are many
}

func (j *memJournal) Sent(_ context.Context, sent replica.Entries, at envelope.Position, ops []delta.Op, s replica.State) error {
	if j.fail() {
		return errDisk
	}
	j.outbox = slices.DeleteFunc(j.outbox, func(o replica.Outgoing) bool { return slices.Contains(sent.Of, o.Seq) })
	for _, d := range j.sent {
		d.needs = slices.DeleteFunc(d.needs, func(n uint64) bool { return slices.Contains(sent.Of, n) })
	}
	if len(ops) > 0 {
		j.sent = append(j.sent, &sentDelta{at: at, ops: slices.Clone(ops)})
	}
	j.forgetSent()
	return j.save(s)
}

func (j *memJournal) Apply(_ context.Context, in replica.Incoming, s replica.State) error {
	if j.fail() {
		return errDisk
	}
	for i := range in.Ops {
		j.take(&in.Ops[i])
	}
	if in.Author.ID == j.self && len(in.Ops) > 0 && !slices.ContainsFunc(j.sent, func(d *sentDelta) bool { return d.at == in.Header.Position() }) {
		j.sent = append(j.sent, &sentDelta{at: in.Header.Position(), ops: slices.Clone(in.Ops)})
	}
	j.forgetSent()
	return j.save(s)
}

func (j *memJournal) Quarantine(_ context.Context, p replica.Problem) error {
	j.problems = append(j.problems, p)
	return nil
}

func (j *memJournal) Problems(context.Context) ([]replica.Problem, error) { return j.problems, nil }

func (j *memJournal) Removals(context.Context) (f replica.Removals, err error) {
	for _, s := range j.sent {
		if waits := slices.ContainsFunc(j.outbox, func(o replica.Outgoing) bool { return slices.Contains(s.needs, o.Seq) }); s.due && !s.gone && !waits {
			f.Bodies = append(f.Bodies, replica.Ref{Member: j.self, Position: s.at})
		}
	}
	return f, nil
}

func (j *memJournal) RecordRemovals(_ context.Context, f replica.Removals) error {
	if j.fail() {
		return errDisk
	}
	for _, s := range j.sent {
		s.gone = s.gone || slices.Contains(f.Bodies, replica.Ref{Member: j.self, Position: s.at})
	}
	return nil
}

func (j *memJournal) NotesByKey(context.Context, []byte) ([]delta.Blob, error) { return nil, nil }

func (j *memJournal) RecordDoubt(_ context.Context, id envelope.Hash) error {
	j.doubts[id] = true
	return nil
}

func (j *memJournal) Doubts(context.Context) (out []replica.Doubt, err error) {
	for id := range j.doubts {
		out = append(out, replica.Doubt{Sealed: id})
	}
	return out, nil
}

func (j *memJournal) RemoveDoubts(_ context.Context, ids []envelope.Hash) error {
	for _, id := range ids {
		delete(j.doubts, id)
	}
	return nil
}

func (*memJournal) OpenBlob(context.Context, memory.ID) (io.ReadCloser, int64, error) {
	return nil, 0, memory.ErrNotFound
}

func (*memJournal) RemoteBlob(context.Context, memory.ID) (delta.Blob, error) {
	return delta.Blob{}, memory.ErrNotFound
}

func (*memJournal) KeepBlob(context.Context, delta.Blob, io.Reader) error {
	return errors.ErrUnsupported
}

// EachLive implements replica.Archive.
func (j *memJournal) EachLive(_ context.Context, f func(*delta.Item) error) error {
	if len(j.outbox) > 0 {
		return replica.ErrUnsettled
	}
	for _, item := range j.items() {
		if err := f(&item); err != nil {
			return err
		}
	}
	return nil
}

// Restore implements replica.Archive.
func (j *memJournal) Restore(_ context.Context, items []delta.Item, s *replica.State) error {
	if j.fail() {
		return errDisk
	}
	for i := range items {
		if items[i].Erased != nil {
			j.take(&delta.Op{Forget: &delta.Forget{Utterances: items[i].Erased}})
		} else {
			j.take(&items[i].Op)
		}
	}
	j.forgetSent()
	if s == nil {
		return nil
	}
	return j.save(*s)
}

// NamedBlobs implements replica.Archive.
func (j *memJournal) NamedBlobs(context.Context) (map[envelope.Hash]bool, uint64, error) {
	return map[envelope.Hash]bool{}, 0, nil
}
