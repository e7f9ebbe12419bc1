package transfer

import (
	"bytes"
	"cmp"
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

// Export implements serve.Exchange. It exports assertions and not what follows from them. An import
// derives the same memories.
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
				if t.c.Life.IsOver() { // the node was locked while this one was read
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

// errUnread ends an export whose reader has stopped.
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
		// A memory that turned cold between the two steps would be missing in both.
		defer t.c.Cold.Hold()()
		// Cold memories come first: if they can't be fetched, the archive does
		// not begin.
		missing, err := t.c.Cold.Each(ctx, func(c *store.Cold) error {
			for i := range c.Assertions {
				r, err := recordOf(archive.KindAssertion, archive.Assertion{Assertion: c.Assertions[i]})
				if err == nil {
					err = give(r)
				}
				if err != nil {
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
		var late []memory.ID // secrets that were added since the others were opened
		for _, next := range []reading{t.lines(), t.memories(secrets, &late, &blobs)} {
			for more := err == nil; more && err == nil; {
				p := page{}
				if err = t.c.Engine.View(ctx, func(tx *store.Tx) (err error) { more, err = next(tx, &p); return err }); err != nil {
					break
				}
				err = p.deliver(give)
			}
		}
		for _, id := range late {
			if err == nil {
				err = t.exportSecret(ctx, id, give)
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

// pageBytes is how much of an export is read in one transaction. The transaction ends before the
// page is handed out. The store can be closed, tidied and rewritten only between transactions, and
// all others wait for that, but the receiver of the export may be slow.
const pageBytes = 1 << 20

// page has records that were read in one transaction.
type page struct {
	records []archive.Record
	bytes   int
}

// reading fills a page with the records after those of the previous one, and reports whether there
// may be more.
type reading func(tx *store.Tx, p *page) (more bool, err error)

func (p *page) full() bool { return p.bytes >= pageBytes }

func (p *page) add(kind string, v any) error {
	r, err := recordOf(kind, v)
	if err != nil {
		return err
	}
	p.records, p.bytes = append(p.records, r), p.bytes+len(r.Data)
	return nil
}

// deliver hands its records out, outside of the transaction.
func (p *page) deliver(to func(archive.Record) error) error {
	for _, r := range p.records {
		if err := to(r); err != nil {
			return err
		}
	}
	return nil
}

// addAssertions adds the assertions of a memory. If the export includes the value of a vault entry,
// secret is that value.
func (p *page) addAssertions(tx *store.Tx, id memory.ID, secret string) error {
	as, err := tx.Assertions(id)
	if err != nil {
		return err
	}
	for i := range as {
		rec := archive.Assertion{Assertion: as[i]}
		if rec.Vault() != nil {
			rec.Secret = secret
		}
		if err := p.add(archive.KindAssertion, rec); err != nil {
			return err
		}
	}
	return nil
}

func recordOf(kind string, v any) (archive.Record, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return archive.Record{}, fmt.Errorf("export: %s: %w", kind, err)
	}
	return archive.Record{Kind: kind, Data: b}, nil
}

// lines reads the utterances, by time and id.
func (t *Transfer) lines() reading {
	var last *memory.Utterance
	return func(tx *store.Tx, p *page) (bool, error) {
		since, was := time.Time{}, last
		if was != nil {
			since = was.At
		}
		for u, err := range tx.Utterances(since, time.Time{}) {
			if err != nil {
				return false, err
			}
			if was != nil && cmp.Or(cmp.Compare(u.At.UnixMilli(), was.At.UnixMilli()), bytes.Compare(u.ID[:], was.ID[:])) <= 0 {
				continue
			}
			if p.full() {
				return true, nil
			}
			if err := p.add(archive.KindUtterance, u); err != nil {
				return false, err
			}
			last = u
		}
		return false, nil
	}
}

// memories reads what was said about memories, the oldest first, and lists their blobs. secrets are
// the values of vault entries that are included; late receives those that were added since, which
// are left out.
func (t *Transfer) memories(secrets map[memory.ID]string, late *[]memory.ID, blobs *[]archive.Part) reading {
	var last store.Place
	var began uint64 // moment of the store at which this pass began
	given := map[memory.ID]bool{}
	return func(tx *store.Tx, p *page) (bool, error) {
		if last.IsZero() {
			began = tx.Revision()
		}
		for m, err := range tx.Memories(store.Filter{Oldest: true, States: everyState, After: last}) {
			if err != nil {
				return false, err
			}
			if p.full() {
				return true, nil
			}
			if last = store.PlaceOf(m); given[m.ID] || m.Expired(t.c.Now()) {
				continue
			}
			given[m.ID] = true
			if _, ok := secrets[m.ID]; !ok && secrets != nil && m.Type == memory.Vault && m.State != memory.Erased {
				*late = append(*late, m.ID)
				continue
			}
			if err := p.addAssertions(tx, m.ID, secrets[m.ID]); err != nil {
				return false, err
			}
			if f := m.Fields.Resource; f != nil && f.Blob != "" {
				if name, err := memory.ParseID(f.Blob); err == nil {
					*blobs = append(*blobs, archive.Part{Name: name, Owner: m.ID})
				}
			}
		}
		last = store.Place{}
		return tx.Revision() != began, nil // otherwise a memory may have moved to a place that this pass had already read
	}
}

// exportSecret opens an entry of the vault, and exports what was said about it. An entry that was
// erased meanwhile is left out.
func (t *Transfer) exportSecret(ctx context.Context, id memory.ID, give func(archive.Record) error) error {
	r, err := t.c.Reveal(ctx, id)
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if _, elsewhere := errors.AsType[*serve.SealedElsewhere](err); err != nil && !elsewhere {
		return err
	}
	var p page
	if err := t.c.Engine.View(ctx, func(tx *store.Tx) error { return p.addAssertions(tx, id, string(r.Secret)) }); err != nil {
		return err
	}
	return p.deliver(give)
}

// everyState selects all memories, including erased ones, because their ids must not be used again.
var everyState = []memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased}

// secrets opens the values in the vault, and adds to the history that each was read. An entry that
// is sealed to another device has none.
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

// exportBlob emits a blob in parts. A blob that is only at the relay is downloaded for it and
// removed again. A blob that nobody has any more, or that was erased meanwhile, is left out.
func (t *Transfer) exportBlob(ctx context.Context, p archive.Part, emit func(archive.Record) error) (err error) {
	var r *store.BlobReader
	open := func(tx *store.Tx) (err error) { r, err = tx.OpenBlob(p.Name); return err }
	err = t.c.Engine.View(ctx, open)
	if errors.Is(err, memory.ErrNotFound) {
		if err = t.c.FetchMedia(ctx, p.Name); err == nil {
			err = t.c.Engine.View(ctx, open)
			defer func() {
				cool := func(tx *store.Tx) error { _, err := tx.CoolBlob(p.Name); return err }
				err = errors.Join(err, t.c.Engine.CommitInReserve(context.WithoutCancel(ctx), cool))
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
