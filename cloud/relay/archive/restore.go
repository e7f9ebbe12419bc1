package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Verify reads a whole archive and checks everything that can be checked without
// a store.
func Verify(ctx context.Context, from io.Reader) (Count, error) { return Restore(ctx, from, nil) }

// Restore writes the content of an archive to a store; if the store is nil, it
// only checks. What the store already has, with the same content, is left alone.
// If the store has different content, Restore stops with an error.
func Restore(ctx context.Context, from io.Reader, to relay.Restorer) (Count, error) {
	r, err := newReader(from)
	if err != nil {
		return Count{}, fmt.Errorf("restore: %w", err)
	}
	x := &restore{r: r, to: to}
	for err == nil {
		if err = ctx.Err(); err == nil {
			err = r.next()
		}
		if err == nil {
			err = x.record(ctx)
		}
	}
	if err == io.EOF {
		err = x.flush(ctx)
		if err == nil && x.isIncomplete() {
			err = fmt.Errorf("%w: the last account or space is incomplete", ErrForm)
		}
	}
	if err != nil {
		return x.Count, fmt.Errorf("restore: %w", err)
	}
	return x.Count, nil
}

// restore is the position in an archive.
type restore struct {
	Count
	r  *reader
	to relay.Restorer

	account account
	space   *space
	state   *envelope.State
	head    relay.Space // of the present space, in the store
	links   map[link]envelope.Link
	cursor  uint64
	batch   []*envelope.Delta
	size    int
	records int // checkpoints and votes of the present space
}

type link struct {
	member      memory.MemberID
	incarnation uint64
}

// isIncomplete reports whether the archive has announced something that has not come
// yet.
func (x *restore) isIncomplete() bool {
	return x.account.Spaces > 0 || x.space != nil && (x.state.N() != x.space.Entries || x.cursor != x.space.Cursor)
}

func (x *restore) record(ctx context.Context) error {
	wrong := fmt.Errorf("record %d: %w: %q does not come here", x.r.records, ErrForm, x.r.kind)
	switch x.r.kind {
	case kindInvite:
		var i invite
		if err := x.r.decode(&i); err != nil || x.Accounts > 0 {
			return errors.Join(err, wrong)
		}
		if x.to == nil {
			return nil
		}
		return x.to.RestoreInvite(ctx, relay.Invite{Hash: i.Hash, Used: i.Used})
	case kindAccount:
		if x.isIncomplete() {
			return wrong
		}
		x.account = account{}
		if err := x.r.decode(&x.account); err != nil {
			return err
		}
		x.Accounts++
		if x.to == nil {
			return nil
		}
		return x.to.RestoreAccount(ctx, x.account.ID)
	case kindSpace:
		return x.begin(ctx, wrong)
	}
	if x.space == nil {
		return wrong
	}
	switch x.r.kind {
	case kindEntry:
		if x.state.N() == x.space.Entries {
			return wrong
		}
		return x.entry(ctx)
	case kindDelta:
		if x.state.N() != x.space.Entries || x.cursor == x.space.Cursor {
			return wrong
		}
		return x.delta(ctx)
	case kindRecord:
		var r record
		if x.state.N() != x.space.Entries || x.cursor != x.space.Cursor {
			return wrong
		}
		if err := x.r.decode(&r); err != nil {
			return err
		}
		if err := x.checks(&r); err != nil {
			return fmt.Errorf("space %s: record %s: %w", x.space.ID, r.ID, err)
		}
		if x.to == nil || x.records > relay.MaxRecords {
			return nil
		}
		err := x.to.PutRecord(ctx, x.space.ID, relay.Record{ID: r.ID, About: r.About, Bytes: r.Bytes}, relay.Quota{})
		if errors.Is(err, relay.ErrNotFound) && r.ID != r.About { // older relays kept votes on checkpoints that were just deleted
			err = nil
		}
		return err
	case kindBlob:
		if x.state.N() != x.space.Entries || x.cursor != x.space.Cursor {
			return wrong
		}
		return x.blob(ctx)
	}
	return wrong
}

// checks checks a checkpoint or vote as the relay does each time it reads one.
func (x *restore) checks(r *record) error {
	var of memory.SpaceID
	var id, about envelope.Hash
	if r.ID == r.About {
		c, err := envelope.ParseCheckpoint(r.Bytes)
		if err != nil {
			return err
		}
		of, id, about = c.Space, c.Hash(), c.Hash()
	} else {
		v, err := envelope.ParseVote(r.Bytes)
		if err != nil {
			return err
		}
		of, id, about = v.Space, v.Hash(), v.Checkpoint
	}
	if of != x.space.ID || id != r.ID || about != r.About {
		return fmt.Errorf("%w: it is another, or of another space", ErrForm)
	}
	x.records++
	return nil
}

func (x *restore) begin(ctx context.Context, wrong error) error {
	if x.account.Spaces == 0 || x.space != nil && (x.state.N() != x.space.Entries || x.cursor != x.space.Cursor) {
		return wrong
	}
	if err := x.flush(ctx); err != nil {
		return err
	}
	x.account.Spaces--
	x.records = 0
	x.space, x.state, x.head, x.cursor, x.links = new(space), new(envelope.State), relay.Space{}, 0, map[link]envelope.Link{}
	if err := x.r.decode(x.space); err != nil {
		return err
	}
	if x.space.Account != x.account.ID {
		return fmt.Errorf("space %s: %w: it is of another account", x.space.ID, ErrForm)
	}
	x.Spaces++
	if x.to == nil {
		return nil
	}
	head, err := x.to.Space(ctx, x.space.ID)
	if err != nil && !errors.Is(err, relay.ErrNotFound) {
		return err
	}
	if err == nil && (head.Account != x.account.ID || head.LogN > x.space.Entries || head.Cursor > x.space.Cursor) {
		return fmt.Errorf("space %s: %w: the store has another, or a newer one", x.space.ID, relay.ErrConflict)
	}
	x.head = head
	return nil
}

func (x *restore) entry(ctx context.Context) error {
	var wire []byte
	if err := x.r.decode(&wire); err != nil {
		return err
	}
	e, err := envelope.ParseEntry(wire)
	if err == nil {
		err = x.state.Append(e)
	}
	if err == nil && (e.Space != x.space.ID || e.Action == envelope.Found && relay.AccountID(e.Root) != x.account.ID) {
		err = fmt.Errorf("%w: it is of another space or account", ErrForm)
	}
	if err != nil {
		return fmt.Errorf("space %s: log entry %d: %w", x.space.ID, x.state.N()+1, err)
	}
	x.Entries++
	if x.to == nil {
		return nil
	}
	if e.N <= x.head.LogN {
		have, err := x.to.Log(ctx, e.Space, e.N-1, 1)
		if err == nil && (len(have) != 1 || !bytes.Equal(have[0], wire)) {
			err = fmt.Errorf("space %s: log entry %d: %w: the store has another", e.Space, e.N, relay.ErrConflict)
		}
		return err
	}
	var f *relay.Founding
	if e.Action == envelope.Found {
		f = &relay.Founding{Account: x.account.ID}
	}
	return x.to.AppendLog(ctx, e, f, relay.Quota{})
}

func (x *restore) delta(ctx context.Context) error {
	var wire []byte
	if err := x.r.decode(&wire); err != nil {
		return err
	}
	d, err := envelope.ParseDelta(wire)
	if err == nil && d.Header.Space != x.space.ID {
		err = fmt.Errorf("%w: it is of another space", ErrForm)
	}
	if err == nil {
		err = x.state.Accepts(&d.Header, d.Signature)
		if errors.Is(err, envelope.ErrLate) { // the relay took it before a removal left it out
			err = nil
		}
	}
	if err == nil {
		k := link{d.Header.Member, d.Header.Incarnation}
		if err = x.links[k].Check(&d.Header); err == nil {
			x.links[k] = d.Header.Next()
		}
	}
	if err == nil && d.Body != nil && (uint64(len(d.Body)) != uint64(d.Header.BodySize) || sha256.Sum256(d.Body) != [32]byte(d.Header.BodyHash)) {
		err = envelope.ErrBody
	}
	if err != nil {
		return fmt.Errorf("space %s: delta %d: %w", x.space.ID, x.cursor+1, err)
	}
	x.cursor++
	x.Deltas++
	x.batch = append(x.batch, d)
	x.size += len(wire)
	if len(x.batch) == deltasAtOnce || x.size >= pageSize || x.cursor == x.space.Cursor {
		return x.flush(ctx)
	}
	return nil
}

// flush stores the collected deltas at the cursors that they had.
func (x *restore) flush(ctx context.Context) error {
	if len(x.batch) == 0 {
		return nil
	}
	batch := x.batch
	x.batch, x.size = nil, 0
	if x.to == nil {
		return nil
	}
	cursors, err := x.to.Append(ctx, x.space.ID, x.space.Entries, batch, relay.Quota{}, time.Unix(0, 0))
	if err != nil {
		return fmt.Errorf("space %s: %w", x.space.ID, err)
	}
	for i, c := range cursors {
		if c != x.cursor-uint64(len(batch))+uint64(i)+1 {
			return fmt.Errorf("space %s: %w: the store gave a delta another cursor", x.space.ID, relay.ErrConflict)
		}
	}
	return nil
}

func (x *restore) blob(ctx context.Context) error {
	var b blob
	if err := x.r.decode(&b); err != nil {
		return err
	}
	if b.Size <= 0 || b.Size > relay.MaxBlob {
		return fmt.Errorf("blob %s: %w: %d bytes", b.ID, ErrForm, b.Size)
	}
	sum := sha256.New()
	for offset := int64(0); offset < b.Size; {
		if err := x.r.next(); err != nil {
			if err == io.EOF {
				err = fmt.Errorf("blob %s: %w: it ends within", b.ID, ErrForm)
			}
			return err
		}
		if x.r.kind == kindVoid {
			x.Gone++
			return nil // a sweep removes the unfinished blob
		}
		var chunk []byte
		if x.r.kind != kindChunk {
			return fmt.Errorf("blob %s: %w: %q within", b.ID, ErrForm, x.r.kind)
		}
		if err := x.r.decode(&chunk); err != nil {
			return err
		}
		if len(chunk) == 0 || len(chunk) > pieceSize || offset+int64(len(chunk)) > b.Size {
			return fmt.Errorf("blob %s: %w: a piece of %d bytes", b.ID, ErrForm, len(chunk))
		}
		sum.Write(chunk)
		if x.to != nil {
			at, err := x.to.WriteBlob(ctx, x.space.ID, b.ID, b.Author, b.Size, offset, chunk, relay.Quota{}, time.Now())
			if err != nil && !(errors.Is(err, relay.ErrOffset) && at.Offset > offset) {
				return fmt.Errorf("blob %s: %w", b.ID, err)
			}
		}
		offset += int64(len(chunk))
	}
	if relay.BlobID(sum.Sum(nil)) != b.ID {
		return fmt.Errorf("blob %s: %w", b.ID, relay.ErrBlob)
	}
	x.Blobs++
	x.Bytes += b.Size
	return nil
}
