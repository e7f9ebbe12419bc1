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

// Limits of one delta.
const (
	maxOps   = 400
	maxBytes = 160 << 10 // of padded plaintext, so that the stored state with the delta stays well below the 256 KB of a record
)

// maxForks bounds the incarnations that begin in one round. A restored backup
// needs one. A hostile relay could cause more without end.
const maxForks = 3

var errDeltaTooLarge = errors.New("more than one delta holds")

// push sends the outbox, one delta after another. It saves the sealed delta
// before it sends it. After a crash it sends the same bytes again, and a relay
// that has them already accepts them.
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
			// A backup was restored, and the relay has another delta at this
			// place. The next pull brings the deltas that were sent after the
			// backup. This device goes on under a new incarnation. The same
			// happens if a delta that was sent earlier has not come into the
			// envelope store yet.
			if r.forks++; r.forks > maxForks {
				return fmt.Errorf("send: the relay reports another delta on every try: %w", err)
			}
			st := r.st
			st.Incarnation, st.Own, st.Pending = newIncarnation(), envelope.Link{}, nil
			if err := errors.Join(r.noteRestored(ctx), r.c.Journal.Save(ctx, st)); err != nil {
				return err
			}
			r.setState(st)
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
		r.report(func(s *Status) { s.Sent++ })
	}
}

// sent records that the relay has the pending delta.
func (r *Replica) sent(ctx context.Context, d *envelope.Delta) error {
	return r.settle(ctx, d, r.st, r.st.high()+1)
}

// settle records the pending delta as sent in the state next. at is its cursor,
// or the least that it may have.
func (r *Replica) settle(ctx context.Context, d *envelope.Delta, next State, at uint64) error {
	ops, _, err := r.open(d, &envelope.Member{})
	if err != nil {
		return err
	}
	next.Own, next.Pending = d.Header.Next(), nil
	if erases(ops) && len(r.checkpoints) > 0 {
		next.Stale = at
	}
	if err := r.c.Journal.Sent(ctx, r.st.Pending.Entries, d.Header.Position(), ops, next); err != nil {
		return err
	}
	r.setState(next)
	return nil
}

// checkListed returns ErrRemoved if this member was removed, and ErrUnlisted if the log, as far as it has
// come, doesn't have it.
func (r *Replica) checkListed() error {
	if _, ok := r.log.Member(r.c.Member); ok {
		return nil
	}
	if _, _, removed := r.log.Past(r.c.Member); removed {
		return ErrRemoved
	}
	return ErrUnlisted
}

// prepare seals and saves the next delta. more is false if there is nothing to
// send.
func (r *Replica) prepare(ctx context.Context) (more bool, err error) {
	if err := r.checkListed(); err != nil {
		return false, err
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
		out = ofOneTrust(opsOrBlobs(out))
		ops, of, err := r.ops(ctx, out)
		if err != nil {
			return false, err
		}
		if len(of.Of) == 0 { // all entries are held
			limit = 2 * maxOps
			continue
		}
		if len(ops) == 0 { // all entries stay on this device
			if err := r.c.Journal.Sent(ctx, of, envelope.Position{}, nil, r.st); err != nil {
				return false, err
			}
			limit = 2 * maxOps
			continue
		}
		wire, err := r.seal(key, ops)
		if errors.Is(err, errDeltaTooLarge) && limit > 1 {
			continue
		}
		if errors.Is(err, errDeltaTooLarge) || errors.Is(err, delta.ErrForm) { // one op can't be sent at all
			if err := r.quarantineOp(ctx, of, err); err != nil {
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
		r.setState(st)
		return true, nil
	}
}

// blobsAtOnce is how many bytes of blobs are sent before ops that came
// meanwhile: about 4 minutes at 9,600 bit/s. A larger blob is sent alone.
const blobsAtOnce = 256 << 10

// opsOrBlobs returns the entries to send next. If there are ops, these are ops only,
// since blobs may take long. Otherwise they are some of the blobs.
func opsOrBlobs(out []Outgoing) []Outgoing {
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

// ofOneTrust returns the first entries whose texts have the same trust, because
// a frame has one trust for all its texts.
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

// quarantineOp quarantines an op that can't be sent, so that the others can be.
func (r *Replica) quarantineOp(ctx context.Context, of Entries, why error) error {
	if err := r.notSent(ctx, why); err != nil {
		return err
	}
	return r.c.Journal.Sent(ctx, of, envelope.Position{}, nil, r.st)
}

func (r *Replica) notSent(ctx context.Context, why error) error {
	return r.c.Journal.Quarantine(ctx, Problem{At: r.c.Now(), Member: r.c.Member, Reason: fmt.Sprintf("not sent: %v", why)})
}

// ops returns the ops to send and their entries. It uploads blobs first, and
// holds those that can't be sent.
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
			if damaged || errors.Is(err, memory.ErrNotFound) { // a note exists if the blob was sent before
				b, err = r.resendBlob(ctx, o.Blob, o.Owner)
			}
			switch {
			case errors.Is(err, memory.ErrNotFound): // the blob is missing or damaged; if a repair recovers it, it is sent then
			case concernsOneBlob(err):
				r.deferBlob(waiting{seq: o.Seq}, "photo or recording "+o.Blob.String(), err)
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
		return nil, fmt.Errorf("%w: %v", errDeltaTooLarge, err)
	}
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	if len(plain) > maxBytes {
		return nil, errDeltaTooLarge
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
