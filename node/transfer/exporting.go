package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/replica"
)

// Export implements serve.Exchange. It exports assertions and not what follows
// from them. An import derives the same memories.
func (a Archives) Export(ctx context.Context, opt serve.ExportOptions) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		ended := false
		err := a.of.During(ctx, func(ctx context.Context, t *Transfer) error {
			for r, err := range t.records(ctx, opt) {
				if err != nil {
					return err
				}
				if ended = !yield(r, nil); ended {
					return nil
				}
				if t.c.Life.IsOver() { // locked while this one was read
					return memory.ErrLocked
				}
			}
			return nil
		})
		if err != nil && !ended {
			yield(archive.Record{}, err)
		}
	}
}

func (t *Transfer) records(ctx context.Context, opt serve.ExportOptions) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		var secrets map[memory.ID]string
		if opt.Secrets {
			var err error
			if secrets, err = t.secrets(ctx); err != nil {
				yield(archive.Record{}, err)
				return
			}
		}
		h := archive.Header{Space: t.c.Ring.Space(), At: time.Now().UTC(), Wearer: t.c.Wearer, Zone: t.c.Zone, Secrets: opt.Secrets}
		sign := func(digest []byte) (archive.Signature, error) {
			sig, err := t.c.Ring.DeviceSign(archive.Domain, digest)
			return archive.Signature{Key: t.c.Ring.Public().Device, Digest: digest, Sig: sig}, err
		}
		for r, err := range archive.Make(h, t.body(ctx, secrets), sign) {
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// errUnread ends an export that nobody reads any more.
var errUnread = errors.New("stopped")

// body returns the records of an archive between header and end.
func (t *Transfer) body(ctx context.Context, secrets map[memory.ID]string) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		give := func(r archive.Record) error {
			if !yield(r, nil) {
				return errUnread
			}
			return nil
		}
		emit := func(kind string, v any) error {
			b, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("export: %s: %w", kind, err)
			}
			return give(archive.Record{Kind: kind, Data: b})
		}
		// A memory that turned cold between the two steps would be missing in
		// both.
		defer t.c.Cold.Hold()()
		// Cold memories come first: if they can't be fetched, the archive does
		// not begin.
		missing, err := t.c.Cold.Each(ctx, func(c *store.Cold) error {
			for i := range c.Assertions {
				if err := emit(archive.KindAssertion, archive.Assertion{Assertion: c.Assertions[i]}); err != nil {
					return err
				}
			}
			return nil
		})
		if errors.Is(err, cold.ErrUnreachable) {
			err = fmt.Errorf("%w: %d memories of the export, %v", serve.ErrCold, missing, err)
		}
		if err != nil {
			if !errors.Is(err, errUnread) {
				yield(archive.Record{}, err)
			}
			return
		}
		var blobs []archive.Part
		var late []memory.ID // secrets that came since the others were opened
		err = t.c.Engine.View(ctx, func(tx *store.Tx) error {
			for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
				if err == nil {
					err = emit(archive.KindUtterance, u)
				}
				if err != nil {
					return err
				}
			}
			for m, err := range tx.Memories(store.Filter{Oldest: true, States: everyState}) {
				if err == nil && m.Expired(t.c.Now()) {
					continue
				}
				if _, ok := secrets[m.ID]; err == nil && !ok && secrets != nil && m.Type == memory.Vault && m.State != memory.Erased {
					late = append(late, m.ID)
					continue
				}
				if err == nil {
					err = emitAssertions(tx, m.ID, secrets[m.ID], emit)
				}
				if err != nil {
					return err
				}
				if f := m.Fields.Resource; f != nil && f.Blob != "" {
					if name, err := memory.ParseID(f.Blob); err == nil {
						blobs = append(blobs, archive.Part{Name: name, Owner: m.ID})
					}
				}
			}
			return nil
		})
		for _, id := range late {
			if err == nil {
				err = t.exportSecret(ctx, id, emit)
			}
		}
		for _, b := range blobs {
			if err == nil {
				err = t.exportBlob(ctx, b, give)
			}
		}
		if err != nil && !errors.Is(err, errUnread) {
			yield(archive.Record{}, err)
		}
	}
}

// emitAssertions emits what was said of a memory; secret is a vault entry's, if it is shown.
func emitAssertions(tx *store.Tx, id memory.ID, secret string, emit func(kind string, v any) error) error {
	as, err := tx.Assertions(id)
	if err != nil {
		return err
	}
	for i := range as {
		rec := archive.Assertion{Assertion: as[i]}
		if rec.Vault() != nil {
			rec.Secret = secret
		}
		if err := emit(archive.KindAssertion, rec); err != nil {
			return err
		}
	}
	return nil
}

// exportSecret opens an entry of the vault, and emits what was said of it. One that was erased
// meanwhile is left out.
func (t *Transfer) exportSecret(ctx context.Context, id memory.ID, emit func(kind string, v any) error) error {
	r, err := t.c.Reveal(ctx, id)
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if _, elsewhere := errors.AsType[*serve.SealedElsewhere](err); err != nil && !elsewhere {
		return err
	}
	return t.c.Engine.View(ctx, func(tx *store.Tx) error { return emitAssertions(tx, id, string(r.Secret), emit) })
}

// everyState is all memories, the erased too: their ids must not come back.
var everyState = []memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased}

// secrets opens the values in the vault, and adds to the history that each was
// read. One that is sealed to another device has none.
func (t *Transfer) secrets(ctx context.Context) (map[memory.ID]string, error) {
	if t.c.VaultUntil().IsZero() {
		return nil, serve.ErrVaultLocked
	}
	var ids []memory.ID
	err := t.c.Engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Vault}}) {
			if err != nil {
				return err
			}
			ids = append(ids, m.ID)
		}
		return nil
	})
	out := map[memory.ID]string{}
	for _, id := range ids {
		r, rerr := t.c.Reveal(ctx, id)
		if _, elsewhere := errors.AsType[*serve.SealedElsewhere](rerr); !elsewhere { // it stays sealed
			err = errors.Join(err, rerr)
		}
		out[id] = string(r.Secret)
	}
	return out, err
}

// exportBlob emits a blob in parts. A blob that lies only at the relay is
// downloaded for it and removed again. A blob that nobody has any more, or that
// was erased meanwhile, is left out.
func (t *Transfer) exportBlob(ctx context.Context, p archive.Part, emit func(archive.Record) error) (err error) {
	var r *store.BlobReader
	open := func(tx *store.Tx) (err error) { r, err = tx.OpenBlob(p.Name); return err }
	err = t.c.Engine.View(ctx, open)
	if errors.Is(err, memory.ErrNotFound) {
		if err = t.c.Bring(ctx, p.Name); err == nil {
			err = t.c.Engine.View(ctx, open)
			defer func() {
				cool := func(tx *store.Tx) error { _, err := tx.CoolBlob(p.Name); return err }
				err = errors.Join(err, t.c.Engine.Relieve(context.WithoutCancel(ctx), cool))
			}()
		}
	}
	switch {
	case errors.Is(err, memory.ErrNotFound), errors.Is(err, serve.ErrUnsupported), errors.Is(err, replica.ErrNotFound):
		return nil
	case err != nil && ctx.Err() == nil && r == nil:
		return fmt.Errorf("%w: a photo or recording of the export, of %s: %w", serve.ErrCold, p.Owner, err)
	case err != nil:
		return err
	}
	defer r.Close()
	for rec, err := range archive.Parts(p, r) {
		if err == nil {
			err = emit(rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
