package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// madeDir is the name of the folder that holds a sealed snapshot until it is
// uploaded.
const madeDir = "made"

// Checkpoint makes a snapshot of the space's present state. It returns
// ErrUnsettled if this member's data differs from what was sent and taken,
// envelope.ErrRule if this member may not make checkpoints, and ErrElsewhere or
// ErrConflict if the relay refuses the checkpoint.
func (r *Replica) Checkpoint(ctx context.Context) error {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if r.c.Snapshots == nil {
		return fmt.Errorf("%w: this replica is set up without snapshots", envelope.ErrRule)
	}
	r.listDue = true
	if err := r.doRound(ctx); err != nil {
		return err
	}
	if err := r.pull(ctx); err != nil { // reads what this round sent
		return err
	}
	if err := r.makeCheckpoint(ctx); err != nil {
		return err
	}
	return r.tidy(ctx)
}

// maintainSnapshots is the last step of a round: it verifies others' snapshots, makes
// one if it is time, and removes old ones.
func (r *Replica) maintainSnapshots(ctx context.Context) error {
	if r.c.Snapshots == nil {
		return nil
	}
	if err := r.readCheckpoints(ctx); err != nil {
		return err
	}
	if err := r.verify(ctx); err != nil {
		return err
	}
	if r.checkpointDue() {
		r.listDue = true // another member may have made one meanwhile
		if err := r.readCheckpoints(ctx); err != nil {
			return err
		}
	}
	if r.checkpointDue() {
		if err := r.makeDueCheckpoint(ctx); err != nil {
			return err
		}
	}
	return r.tidy(ctx)
}

// maxRefused bounds how many rounds pass before a refused checkpoint is tried
// again: at most 2^maxRefused - 1.
const maxRefused = 6

// makeDueCheckpoint makes a snapshot if one is wanted and possible. If the relay
// refuses it, makeDueCheckpoint records a problem and returns nil, so that the round
// goes on.
func (r *Replica) makeDueCheckpoint(ctx context.Context) error {
	if r.checkpointPause > 0 {
		r.checkpointPause--
		return nil
	}
	if err := r.pull(ctx); err != nil { // reads what this round sent
		return err
	}
	err := r.makeCheckpoint(ctx)
	switch {
	case err == nil:
		r.refusedCheckpoints = 0
		return nil
	case errors.Is(err, ErrUnsettled):
		return nil
	case errors.Is(err, ErrElsewhere) || errors.Is(err, ErrConflict):
		r.refusedCheckpoints = min(r.refusedCheckpoints+1, maxRefused)
		r.checkpointPause = 1<<r.refusedCheckpoints - 1
		return r.snapshotProblem(ctx, err)
	}
	return err
}

// isReplaced reports whether a checkpoint that counts replaces that of a removed
// owner.
func (r *Replica) isReplaced(former *listed) bool {
	return slices.ContainsFunc(r.checkpoints, func(l *listed) bool {
		return l.standing != envelope.Disputed && r.log.Replaces(l.Checkpoint, former.Checkpoint)
	})
}

// checkpointDue reports whether this member should make a snapshot. It must be an
// owner's device, and one of these must hold: many deltas came since the last
// snapshot; the last snapshot contains something that was forgotten since; its
// author was removed.
func (r *Replica) checkpointDue() bool {
	if m, ok := r.log.Member(r.c.Member); !ok || m.Role != envelope.Owner {
		return false
	}
	last := uint64(0)
	for _, l := range r.checkpoints {
		if l.standing != envelope.Disputed {
			last = max(last, l.Cursor)
		}
	}
	if r.st.Stale > 0 && len(r.checkpoints) > 0 && last < r.st.Stale {
		return true
	}
	// A removed owner's snapshot no longer counts. The bodies that the relay
	// dropped because of it are in no other snapshot.
	if slices.ContainsFunc(r.formerCheckpoints, func(l *listed) bool { return !r.isReplaced(l) }) {
		return true
	}
	every := r.c.Snapshots.Every
	return every > 0 && r.st.Cursor >= last+every
}

func (r *Replica) makeCheckpoint(ctx context.Context) error {
	if m, ok := r.log.Member(r.c.Member); !ok || m.Role != envelope.Owner {
		return fmt.Errorf("checkpoint: %w: only an owner may make one", envelope.ErrRule)
	}
	if r.tookExcluded() {
		return fmt.Errorf("checkpoint: %w: %w", ErrUnsettled, ErrLeftOut)
	}
	if !r.isComplete() || r.st.Cursor == 0 || r.st.Chains.Len() > envelope.MaxPlaces {
		return fmt.Errorf("checkpoint: %w", ErrUnsettled)
	}
	if err := r.cleanUpParts(ctx); err != nil {
		return err
	}
	c := &envelope.Checkpoint{Space: r.c.Space, Author: r.c.Member, Head: r.log.Head(), Epoch: r.log.Epoch(), At: r.c.Now().Unix(), Cursor: r.st.Cursor}
	for k, link := range r.st.Chains.All() {
		m, incarnation, ok := parseChain(k)
		if ok && link.Seq > 0 {
			c.Places = append(c.Places, envelope.Place{Member: m, Incarnation: incarnation, Seq: link.Seq, Hash: link.Hash})
		}
	}
	sorting.Sort(c.Places, envelope.Place.Compare)
	dir := filepath.Join(r.c.Temp, madeDir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	parts, err := r.sealSnapshot(ctx, c, dir)
	if err != nil {
		return err
	}
	if err := r.askPlaces(ctx, c); err != nil {
		return fmt.Errorf("checkpoint at %d: %w", c.Cursor, err)
	}
	if err := r.noteParts(ctx, parts); err != nil {
		return err
	}
	for _, id := range parts {
		if err := r.sendPart(ctx, filepath.Join(dir, id.String()), id); err != nil {
			return err
		}
	}
	if err := c.Sign(r.c.Keys.Sign); err != nil {
		return err
	}
	err = r.c.Snapshots.At.PutCheckpoint(ctx, c)
	if errors.Is(err, ErrConflict) {
		err = errors.Join(err, r.dropParts(ctx, parts))
	} else if err == nil {
		err = r.noteParts(ctx, nil)
	} else {
		r.listDue = true // the relay may have stored it in spite of the error
	}
	if err != nil {
		return fmt.Errorf("checkpoint at %d: %w", c.Cursor, err)
	}
	r.checkpoints = append(slices.Clone(r.checkpoints), &listed{Checkpoint: c, hash: c.Hash(), standing: r.log.Standing(c, nil)})
	return nil
}

// ErrElsewhere reports that the relay says that a chain ends at another place
// than the deltas that it has served.
var ErrElsewhere = errors.New("the relay shows a chain at another place than before")

// askPlaces asks the relay for the places that it expects, and compares them with the
// checkpoint's before the parts are sent. A checkpoint that the relay would
// refuse then costs only one request. If the relay does not support this
// question, ask assumes that it will take the checkpoint.
func (r *Replica) askPlaces(ctx context.Context, c *envelope.Checkpoint) error {
	there, err := r.c.Snapshots.At.Places(ctx, c.Cursor)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	differs := func(p envelope.Place, here, there uint64) error {
		return fmt.Errorf("%w: chain %s/%016x is at %d there, and at %d here", ErrElsewhere, p.Member, p.Incarnation, there, here)
	}
	for _, p := range there {
		if have, ok := c.Place(p.Member, p.Incarnation); !ok || have != p {
			return differs(p, have.Seq, p.Seq)
		}
	}
	for _, p := range c.Places {
		if !slices.Contains(there, p) {
			return differs(p, p.Seq, 0)
		}
	}
	return nil
}

// authored reports whether this member made one of the relay's checkpoints.
func (r *Replica) authored() bool {
	return r.st.Checkpoint != nil && r.st.Checkpoint.Author == r.c.Member ||
		slices.ContainsFunc(r.checkpoints, func(l *listed) bool { return l.Author == r.c.Member })
}

// sealSnapshot writes the parts into dir, each named by its hash and the
// manifest last, and completes the checkpoint.
func (r *Replica) sealSnapshot(ctx context.Context, c *envelope.Checkpoint, dir string) (parts []envelope.Hash, err error) {
	key, ok := r.c.Keys.Epoch(c.Epoch)
	if !ok {
		return nil, fmt.Errorf("checkpoint: the key of epoch %d is not here", c.Epoch)
	}
	write := func(plain []byte) (delta.Chunk, error) {
		b, err := seal.SealBody(key, plain)
		clear(plain)
		if err != nil {
			return delta.Chunk{}, err
		}
		id := envelope.Hash(sha256.Sum256(b))
		parts = append(parts, id)
		return delta.Chunk{Sealed: id, Size: uint32(len(b))}, os.WriteFile(filepath.Join(dir, id.String()), b, 0o600)
	}
	source := delta.Source{Space: c.Space, Author: c.Author, Cursor: c.Cursor}
	p, m := delta.NewPacker(source), &delta.Manifest{Chunks: []delta.Chunk{}}
	put := func(plain []byte, err error) error {
		if err != nil || plain == nil {
			return err
		}
		chunk, err := write(plain)
		m.Chunks = append(m.Chunks, chunk)
		return err
	}
	err = r.c.Snapshots.Archive.EachLive(ctx, func(i *delta.Item) error { return put(p.Put(i)) })
	if err == nil {
		err = put(p.Flush())
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	m.Digest = p.Sum()
	plain, err := m.Pack(source)
	if err != nil {
		return nil, err
	}
	manifest, err := write(plain)
	c.Manifest, c.Size = manifest.Sealed, manifest.Size
	return parts, err
}

// tidy removes from the relay what a verified checkpoint replaces: older
// checkpoints and, if compaction is on, the bodies that it covers.
func (r *Replica) tidy(ctx context.Context) error {
	m, ok := r.log.Member(r.c.Member)
	if !ok || m.Role != envelope.Owner {
		return nil
	}
	if err := r.cleanUpParts(ctx); err != nil { // parts of a checkpoint whose removal was interrupted
		return err
	}
	if err := r.renewed(ctx); err != nil {
		return err
	}
	for _, l := range slices.Clone(r.formerCheckpoints) {
		if !r.isReplaced(l) {
			continue
		}
		if err := r.drop(ctx, l); err != nil {
			return err
		}
		r.formerCheckpoints = slices.DeleteFunc(r.formerCheckpoints, func(o *listed) bool { return o.hash == l.hash })
	}
	var newest *listed
	for _, l := range r.checkpoints {
		if l.standing == envelope.Verified && (newest == nil || l.Cursor > newest.Cursor) {
			newest = l
		}
	}
	if newest == nil {
		return nil
	}
	if err := r.dropOlder(ctx, newest); err != nil {
		return err
	}
	if !r.c.Snapshots.Compact || r.compacted == newest.hash {
		return nil
	}
	err := r.c.Snapshots.At.Compact(ctx, newest.hash)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) { // the relay counts votes differently, or has another checkpoint
		r.listDue, err = true, nil
	}
	if err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	r.compacted = newest.hash
	return nil
}

// renewed removes checkpoints that contain something that was erased since. It
// does so as soon as there is a newer checkpoint without the erased content,
// verified or not.
func (r *Replica) renewed(ctx context.Context) error {
	if r.st.Stale == 0 {
		return nil
	}
	for _, l := range r.checkpoints {
		if l.Cursor < r.st.Stale || l.standing == envelope.Disputed {
			continue
		}
		if err := r.dropOlder(ctx, l); err != nil {
			return err
		}
		next := r.st.clone()
		next.Stale = 0
		return r.save(ctx, next)
	}
	return nil
}

// dropOlder removes the checkpoints that are older than the given one.
func (r *Replica) dropOlder(ctx context.Context, than *listed) error {
	for _, l := range slices.Clone(r.checkpoints) {
		if l.hash == than.hash || l.Cursor > than.Cursor {
			continue
		}
		if err := r.drop(ctx, l); err != nil {
			return err
		}
		r.checkpoints = slices.DeleteFunc(r.checkpoints, func(o *listed) bool { return o.hash == l.hash })
	}
	return nil
}

// drop removes a checkpoint and its parts. It never removes a blob that a note
// names, whatever the manifest says.
func (r *Replica) drop(ctx context.Context, l *listed) error {
	var parts []envelope.Hash
	m, err := r.manifest(ctx, l)
	if err == nil {
		for _, c := range m.Chunks {
			parts = append(parts, c.Sealed)
		}
	} else if !isWrongSnapshot(err) {
		return fmt.Errorf("drop checkpoint: %w", err)
	}
	named, _, err := r.c.Snapshots.Archive.NamedBlobs(ctx)
	if err != nil {
		return fmt.Errorf("drop checkpoint: %w", err)
	}
	parts = slices.DeleteFunc(append(parts, l.Manifest), func(id envelope.Hash) bool { return named[id] })
	if err := r.noteParts(ctx, parts); err != nil {
		return err
	}
	if err := r.c.Snapshots.At.DropCheckpoint(ctx, l.hash); err != nil {
		return fmt.Errorf("drop checkpoint: %w", err)
	}
	return r.dropParts(ctx, parts)
}

// erases reports whether ops remove something that a snapshot may contain.
func erases(ops []delta.Op) bool {
	return slices.ContainsFunc(ops, func(o delta.Op) bool {
		return o.Forget != nil || o.Assertion != nil && o.Assertion.Act == memory.ActErase
	})
}
