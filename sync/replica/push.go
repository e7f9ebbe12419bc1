package replica

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// Of one delta.
const (
	maxOps   = 200
	maxBytes = 200 << 10 // of padded plaintext, so that the state with it is under 256 KB
)

var errTooMuch = errors.New("more than one delta holds")

// push sends what is in the outbox, one delta after another. Each is kept on
// disk, sealed, before it is sent: after a crash the same bytes are sent, which
// a relay that has them takes without a word.
func (r *Replica) push(ctx context.Context) error {
	for {
		if r.st.Pending == nil {
			more, err := r.prepare(ctx)
			if err != nil || !more {
				return err
			}
		}
		d, err := envelope.ParseDelta(r.st.Pending.Delta)
		if err != nil {
			return fmt.Errorf("pending delta: %w", err)
		}
		err = r.c.Remote.Append(ctx, d)
		if errors.Is(err, ErrFork) {
			// A backup was put back, and this place is taken. What we sent there
			// comes back with the deltas; this goes out under a new incarnation.
			st := r.st
			st.Incarnation, st.Own, st.Pending = newIncarnation(), envelope.Link{}, nil
			if err := r.c.Journal.Save(ctx, st); err != nil {
				return err
			}
			r.st = st
			continue
		}
		if errors.Is(err, envelope.ErrGap) {
			return fmt.Errorf("send: %w: %w", ErrRolledBack, err)
		}
		if err != nil {
			return fmt.Errorf("send: %w", err)
		}
		if err := r.sent(ctx, d); err != nil {
			return err
		}
	}
}

func (r *Replica) sent(ctx context.Context, d *envelope.Delta) error {
	ops, _, err := r.open(d, &envelope.Member{})
	if err != nil {
		return err
	}
	st := r.st
	st.Own, st.Pending = d.Header.Next(), nil
	if err := r.c.Journal.Sent(ctx, r.st.Pending.Upto, d.Header.Position(), ops, st); err != nil {
		return err
	}
	r.st = st
	return nil
}

// prepare seals the next delta, and keeps it. more is false where nothing waits.
func (r *Replica) prepare(ctx context.Context) (more bool, err error) {
	if _, ok := r.log.Member(r.c.Member); !ok {
		return false, ErrRemoved
	}
	key, ok := r.c.Keys.Epoch(r.log.Epoch())
	if !ok {
		return false, fmt.Errorf("send: the key of epoch %d is not here", r.log.Epoch())
	}
	for limit := maxOps; ; limit /= 2 {
		out, err := r.c.Journal.Outbox(ctx, limit)
		if err != nil || len(out) == 0 {
			return false, err
		}
		ops, err := r.ops(ctx, out, key)
		if err != nil {
			return false, err
		}
		upto := out[len(out)-1].Seq
		if len(ops) == 0 { // all of it stays here
			if err := r.c.Journal.Sent(ctx, upto, envelope.Position{}, nil, r.st); err != nil {
				return false, err
			}
			limit = 2 * maxOps
			continue
		}
		wire, err := r.seal(key, ops)
		if errors.Is(err, errTooMuch) && limit > 1 {
			continue
		}
		if err != nil {
			return false, err
		}
		st := r.st
		st.Pending = &Pending{Delta: wire, Upto: upto}
		if err := r.c.Journal.Save(ctx, st); err != nil {
			return false, err
		}
		r.st = st
		return true, nil
	}
}

// ops gives what is to be said. Blobs go to the relay first.
func (r *Replica) ops(ctx context.Context, out []Outgoing, key *seal.Key) ([]delta.Op, error) {
	var ops []delta.Op
	for _, o := range out {
		switch {
		case o.Op != nil:
			ops = append(ops, *o.Op)
		case !o.Blob.IsZero():
			b, err := r.sendBlob(ctx, o.Blob, o.Owner, key)
			if errors.Is(err, memory.ErrNotFound) {
				continue // gone since
			}
			if err != nil {
				return nil, err
			}
			ops = append(ops, delta.Op{Blob: b})
		}
	}
	return ops, nil
}

func (r *Replica) seal(key *seal.Key, ops []delta.Op) ([]byte, error) {
	h := envelope.Header{Version: envelope.Version, Space: r.c.Space, Member: r.c.Member, Incarnation: r.st.Incarnation,
		Seq: r.st.Own.Seq + 1, Prev: r.st.Own.Hash, Head: r.log.Head(), Epoch: r.log.Epoch()}
	plain, err := delta.Encode(h, ops)
	if err != nil && len(ops) > 1 {
		return nil, fmt.Errorf("%w: %v", errTooMuch, err)
	}
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	if len(plain) > maxBytes {
		return nil, errTooMuch
	}
	body, err := seal.SealBody(key, plain)
	if err != nil {
		return nil, err
	}
	d, err := envelope.Sign(h, body, r.c.Keys.Sign)
	if err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// sendBlob seals a blob under a key of its own and gives it to the relay. The
// key follows from the epoch's and the name, so that sealing it again gives the
// same bytes, and an upload goes on where it broke off.
func (r *Replica) sendBlob(ctx context.Context, name, owner memory.ID, epoch *seal.Key) (*delta.Blob, error) {
	key := epoch.Derive("blob " + name.String())
	defer key.Zero()
	open := func() (io.ReadCloser, error) {
		f, _, err := r.c.Journal.OpenBlob(ctx, name)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{seal.SealStream(key, f), f}, nil
	}
	id, size, err := hashOf(open)
	if err != nil {
		return nil, err
	}
	err = r.c.Remote.Upload(ctx, id, size, func(offset int64) (io.ReadCloser, error) {
		f, err := open()
		if err == nil && offset > 0 {
			if _, err = io.CopyN(io.Discard, f, offset); err != nil {
				f.Close()
			}
		}
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("send blob %s: %w", name, err)
	}
	return &delta.Blob{Name: name.String(), Sealed: id, Size: uint64(size), Key: key.Bytes(), Memory: owner}, nil
}

// FetchBlob brings a blob that another member sent onto this disk. One that is
// here already is no error; one that nobody spoke of is memory.ErrNotFound.
func (r *Replica) FetchBlob(ctx context.Context, name memory.ID) error {
	f, _, err := r.c.Journal.OpenBlob(ctx, name)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, memory.ErrNotFound) {
		return err
	}
	r.round.Lock() // two must not write one blob
	defer r.round.Unlock()
	b, err := r.c.Journal.RemoteBlob(ctx, name)
	if err != nil {
		return err
	}
	key, err := seal.KeyFromBytes(b.Key)
	if err != nil {
		return err
	}
	defer key.Zero()
	sealed, err := r.c.Remote.Download(ctx, b.Sealed)
	if err != nil {
		return fmt.Errorf("fetch blob %s: %w", name, err)
	}
	defer sealed.Close()
	if err := r.c.Journal.KeepBlob(ctx, b, seal.OpenStream(key, sealed)); err != nil {
		return fmt.Errorf("fetch blob %s: %w", name, err)
	}
	return nil
}
