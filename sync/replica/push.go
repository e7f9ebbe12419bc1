package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// Of one delta.
const (
	maxOps   = 400
	maxBytes = 160 << 10 // of padded plaintext, so that the state with it is well under a record's 256 KB
)

// maxForks is how many incarnations begin in one round, at most: one is needed
// where a backup was put back, and a relay could ask for them without end.
const maxForks = 3

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
		if errors.Is(err, ErrFork) || r.c.Local && errors.Is(err, envelope.ErrGap) {
			// A backup was put back, and this place is taken. What we sent there
			// comes back with the deltas; this goes out under a new incarnation. So
			// it does where what we sent before has not come onto the shelf yet.
			if r.forks++; r.forks > maxForks {
				return fmt.Errorf("send: it is said again and again that there is something else: %w", err)
			}
			st := r.st
			st.Incarnation, st.Own, st.Pending = newIncarnation(), envelope.Link{}, nil
			if err := errors.Join(r.wasPutBack(ctx), r.c.Journal.Save(ctx, st)); err != nil {
				return err
			}
			r.keep(st)
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
		r.mark(func(s *Status) { s.Sent++ })
	}
}

func (r *Replica) sent(ctx context.Context, d *envelope.Delta) error {
	ops, _, err := r.open(d, &envelope.Member{})
	if err != nil {
		return err
	}
	st := r.st
	st.Own, st.Pending = d.Header.Next(), nil
	if erases(ops) && len(r.seen) > 0 {
		st.Stale = r.st.high() + 1
	}
	if err := r.c.Journal.Sent(ctx, r.st.Pending.Entries, d.Header.Position(), ops, st); err != nil {
		return err
	}
	r.keep(st)
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
		out, err := r.outbox(ctx, limit)
		if err != nil || len(out) == 0 {
			return false, err
		}
		out = ofOneTrust(first(out))
		ops, of, err := r.ops(ctx, out)
		if err != nil {
			return false, err
		}
		if len(of.Of) == 0 { // all of it waits
			limit = 2 * maxOps
			continue
		}
		if len(ops) == 0 { // all of it stays here
			if err := r.c.Journal.Sent(ctx, of, envelope.Position{}, nil, r.st); err != nil {
				return false, err
			}
			limit = 2 * maxOps
			continue
		}
		wire, err := r.seal(key, ops)
		if errors.Is(err, errTooMuch) && limit > 1 {
			continue
		}
		if errors.Is(err, errTooMuch) || errors.Is(err, delta.ErrForm) { // of one op: it can't be said at all
			if err := r.unsayable(ctx, of, err); err != nil {
				return false, err
			}
			limit = 2 * maxOps
			continue
		}
		if err != nil {
			return false, err
		}
		st := r.st
		st.Pending = &Pending{Delta: wire, Entries: of}
		if err := r.c.Journal.Save(ctx, st); err != nil {
			return false, err
		}
		r.keep(st)
		return true, nil
	}
}

// blobsAtOnce is how many bytes of blobs are sent before what was said meanwhile
// goes: some 4 minutes at 9,600 bit/s. One that is larger goes alone.
const blobsAtOnce = 256 << 10

// first gives the entries that go first: what is said, and no blobs with it, which
// may take long; where nothing is to be said, some blobs.
func first(out []Outgoing) []Outgoing {
	size := int64(0)
	for i, o := range out {
		if !o.Blob.IsZero() && out[0].Blob.IsZero() {
			return out[:i]
		}
		if size += o.Size; size > blobsAtOnce && i > 0 {
			return out[:i]
		}
	}
	return out
}

// ofOneTrust gives the first entries whose words are of one trust, so that no
// two share a frame.
func ofOneTrust(out []Outgoing) []Outgoing {
	of := delta.NoWords
	for i, o := range out {
		if o.Op == nil {
			continue
		}
		switch t := o.Op.Trust(); {
		case t == delta.NoWords || t == of:
		case of == delta.NoWords:
			of = t
		default:
			return out[:i]
		}
	}
	return out
}

// unsayable sets what can't be sent aside, so that the rest can.
func (r *Replica) unsayable(ctx context.Context, of Entries, why error) error {
	if err := r.notSent(ctx, why); err != nil {
		return err
	}
	return r.c.Journal.Sent(ctx, of, envelope.Position{}, nil, r.st)
}

func (r *Replica) notSent(ctx context.Context, why error) error {
	return r.c.Journal.SetAside(ctx, Problem{At: r.c.Now(), Member: r.c.Member, Reason: fmt.Sprintf("not sent: %v", why)})
}

// ops gives what is to be said, and of which entries. Blobs go to the relay first;
// those that can't are held.
func (r *Replica) ops(ctx context.Context, out []Outgoing) (ops []delta.Op, of Entries, err error) {
	for _, o := range out {
		switch {
		case o.Op != nil:
			ops = append(ops, *o.Op)
		case !o.Blob.IsZero():
			b, err := r.sendBlob(ctx, o.Blob, o.Owner)
			damaged := errors.Is(err, memory.ErrDamaged)
			if damaged {
				if err := r.notSent(ctx, err); err != nil {
					return nil, of, err
				}
			}
			if damaged || errors.Is(err, memory.ErrNotFound) { // what it was is known where it was sent before
				b, err = r.resentBlob(ctx, o.Blob, o.Owner)
			}
			switch {
			case errors.Is(err, memory.ErrNotFound): // gone since, or damaged: a repair that has it back sends it
			case holdsAlone(err):
				r.hold(waiting{seq: o.Seq}, "photo or recording "+o.Blob.String(), err)
				if errors.Is(err, ErrNoRoom) && o.Size > 0 && (r.tooLarge == 0 || o.Size < r.tooLarge) {
					r.tooLarge = o.Size
				}
				continue
			case err != nil:
				return nil, of, err
			default:
				ops = append(ops, delta.Op{Blob: b})
			}
		}
		of.Of = append(of.Of, o.Seq)
	}
	return ops, of, nil
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
