package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
)

func (t *Transfer) importRecords(ctx context.Context, records iter.Seq2[serve.ExportRecord, error], opt serve.ImportOptions) (res serve.ImportResult, err error) {
	aside, sum, err := t.putAside(ctx, records)
	if err != nil {
		return res, err
	}
	defer func() {
		err = errors.Join(err, t.c.Store.DropBlob(aside)) // whatever the result of the import was
	}()
	members, unknown := t.c.Members(ctx)
	if err := t.trusts(members, sum.Key, opt); err != nil {
		return res, err
	}
	r, err := t.c.Store.ReadBlob(aside)
	if err != nil {
		return res, err
	}
	defer r.Close()
	if unknown != nil {
		return res, unknown
	}
	in := importing{Transfer: t, space: sum.Header.Space}
	if members != nil {
		in.living = map[memory.MemberID]bool{t.c.Ring.Member(): true}
		for _, m := range members {
			in.living[m.ID] = true
		}
	}
	if sum.Key != nil {
		in.res.Signer = archive.Words(sum.Key)
	}
	if name := sum.Header.Wearer; memory.Normal(name) != memory.Normal(t.c.Wearer) {
		in.res.Wearer = name
	}
	err = in.all(ctx, json.NewDecoder(bufio.NewReader(r)))
	return in.res, err
}

// putAside writes an archive to a blob of the store while it is checked. An archive
// that is not complete leaves nothing behind. No record ever names the blob, so its
// key is only in memory. If a crash leaves secrets in it, nothing can open them,
// and the next Open removes it.
func (t *Transfer) putAside(ctx context.Context, records iter.Seq2[archive.Record, error]) (b store.Blob, sum archive.Summary, err error) {
	r, w := io.Pipe()
	checked := make(chan error, 1)
	go func() {
		buf := bufio.NewWriter(w)
		enc := json.NewEncoder(buf)
		var err error
		sum, err = archive.Check(records, func(r archive.Record) error { return enc.Encode(r) })
		if err == nil {
			err = buf.Flush()
		}
		checked <- err
		if err != nil {
			err = errUnread
		}
		w.CloseWithError(err) // nil means the end
	}()
	b, err = t.c.Store.WriteBlob(ctx, r)
	r.CloseWithError(errUnread)
	if wrong := <-checked; wrong != nil && !errors.Is(wrong, errUnread) {
		err = wrong // this is a better description of why the blob was not written
	}
	return b, sum, err
}

// trusts returns why an archive that this key signed may not be imported.
func (t *Transfer) trusts(members []envelope.Member, key ed25519.PublicKey, opt serve.ImportOptions) error {
	switch {
	case key == nil && opt.Unsigned:
		return nil
	case key == nil:
		return fmt.Errorf("%w: it has no signature", serve.ErrSigner)
	case opt.Signer != "" && memory.Normal(opt.Signer) == archive.Words(key), bytes.Equal(key, t.c.Ring.Public().Device):
		return nil
	case opt.Signer != "":
		return fmt.Errorf("%w: it was signed by the key of the words %q, not %q", serve.ErrSigner, archive.Words(key), opt.Signer)
	}
	// The key of a device of the same space is trusted, if there is a relay to ask.
	if slices.ContainsFunc(members, func(m envelope.Member) bool { return bytes.Equal(m.Key, key) && m.Role == envelope.Owner }) {
		return nil
	}
	return fmt.Errorf("%w: it was signed by the key of the words %q", serve.ErrSigner, archive.Words(key))
}
