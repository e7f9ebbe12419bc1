package servetest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// Export implements serve.Exchange, with memories as its records.
func (n *Node) Export(ctx context.Context, opt serve.ExportOptions) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		done, err := n.open(ctx)
		if err != nil {
			yield(serve.ExportRecord{}, err)
			return
		}
		memories := slices.Clone(n.s.Memories)
		closed := n.vault.Before(n.Now())
		done()
		if opt.Secrets && closed {
			yield(serve.ExportRecord{}, serve.ErrVaultLocked)
			return
		}
		body := func(yield func(serve.ExportRecord, error) bool) {
			for _, m := range memories {
				if m.State == memory.Erased {
					continue
				}
				b, err := json.Marshal(m)
				if !yield(serve.ExportRecord{Kind: "memory", Data: b}, err) || err != nil {
					return
				}
			}
		}
		sign := func(digest []byte) (archive.Signature, error) {
			return archive.Signature{Key: n.key().Public().(ed25519.PublicKey), Digest: digest, Sig: keyring.SignWith(n.key(), archive.Domain, digest)}, nil
		}
		archive.Make(archive.Header{}, body, sign)(yield)
	}
}

// key is the node's own, which is in its state.
func (n *Node) key() ed25519.PrivateKey {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.s.Key == nil {
		_, n.s.Key, _ = ed25519.GenerateKey(nil) // which does not fail with the default source
	}
	return n.s.Key
}

// Import implements serve.Exchange.
func (n *Node) Import(ctx context.Context, records iter.Seq2[serve.ExportRecord, error], opt serve.ImportOptions) (serve.ImportResult, error) {
	var res serve.ImportResult
	var list []serve.ExportRecord
	sum, err := archive.Check(records, func(r serve.ExportRecord) error {
		list = append(list, r)
		return nil
	})
	switch {
	case err != nil:
		return res, err
	case sum.Key == nil && !opt.Unsigned:
		return res, fmt.Errorf("%w: it has no signature", serve.ErrSigner)
	case sum.Key != nil && !bytes.Equal(sum.Key, n.key().Public().(ed25519.PublicKey)) && archive.Words(sum.Key) != opt.Signer:
		return res, fmt.Errorf("%w: it was signed by the key of the words %q", serve.ErrSigner, archive.Words(sum.Key))
	}
	for _, r := range list {
		switch r.Kind {
		case archive.KindHeader, archive.KindEnd, archive.KindSignature:
			continue
		}
		var m memory.Memory
		if err := json.Unmarshal(r.Data, &m); err != nil || m.Validate() != nil {
			res.Refused++
			n.SetAside(serve.Quarantined{At: n.Now().UTC(), Source: "import", Kind: "malformed", Reason: "a record is no memory", Bytes: int64(len(r.Data)), Count: 1})
			continue
		}
		done, err := n.open(ctx)
		if err != nil {
			return res, err
		}
		if slices.ContainsFunc(n.s.Memories, func(o memory.Memory) bool { return o.ID == m.ID }) {
			res.Skipped++
		} else {
			n.s.Memories = append(n.s.Memories, m)
			n.change(memory.Change{Memory: m.ID, Verdict: memory.Add, New: m.Text, By: memory.Source{Plugin: "import"}, Rank: m.Rank, Reason: "imported"})
			res.Taken++
		}
		done()
	}
	return res, nil
}

// lines writes an archive as the lines that are sent.
func lines(t *testing.T, c *serve.Client) (out [][]byte, signer string) {
	t.Helper()
	for r, err := range c.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, append(b, '\n'))
		if r.Kind == archive.KindSignature {
			var s archive.Signature
			if err := json.Unmarshal(r.Data, &s); err != nil {
				t.Fatal(err)
			}
			signer = archive.Words(s.Key)
		}
	}
	return out, signer
}

func exportImport(t *testing.T, from, to *serve.Client) {
	ctx := t.Context()
	for _, text := range []string{"Ann likes tea", "The bike is blue"} {
		added(t, from, plain(text))
	}
	all, signer := lines(t, from)
	if signer == "" {
		t.Fatal("an export has no signature")
	}
	send := func(lines [][]byte, opt serve.ImportOptions) (serve.ImportResult, error) {
		return to.Import(ctx, bytes.NewReader(bytes.Join(lines, nil)), opt)
	}
	n := len(all)
	forged := slices.Clone(all)
	for i := range forged {
		forged[i] = bytes.ReplaceAll(forged[i], []byte("Ann likes tea"), []byte("Ann likes gin"))
	}
	trust := serve.ImportOptions{Signer: signer}
	for name, c := range map[string]struct {
		lines [][]byte
		opt   serve.ImportOptions
		want  error
	}{
		"cut off": {all[:n-2], trust, memory.ErrInvalid}, "without its middle": {append(slices.Clone(all[:1]), all[n-2:]...), trust, memory.ErrInvalid},
		"forged": {forged, trust, memory.ErrInvalid}, "of another": {all, serve.ImportOptions{}, serve.ErrSigner},
		"of another than was said": {all, serve.ImportOptions{Signer: "alpha bravo coral delta eagle"}, serve.ErrSigner},
		"without a signature":      {all[:n-1], trust, serve.ErrSigner}, "twice": {append(slices.Clone(all), all...), trust, memory.ErrInvalid},
	} {
		if _, err := send(c.lines, c.opt); !errors.Is(err, c.want) {
			t.Fatalf("%s: %v, want %v", name, err, c.want)
		}
		if page, err := to.List(ctx, serve.ListQuery{}); err != nil || len(page.Memories) > 0 {
			t.Fatalf("%s: something was taken: %d, %v", name, len(page.Memories), err)
		}
	}
	if _, err := send(all, trust); err != nil {
		t.Fatal(err)
	}
	again, err := send(all[:n-1], serve.ImportOptions{Unsigned: true})
	if err != nil || again.Taken != 0 || again.Skipped == 0 || again.Refused != 0 {
		t.Fatalf("imported again: %+v, %v", again, err)
	}
	a, err := from.List(ctx, serve.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range a.Memories {
		got, err := to.Get(ctx, m.ID.String())
		if err != nil || got.Text != m.Text {
			t.Fatalf("%+v became %+v, %v", m, got, err)
		}
	}
	for _, err := range from.Export(ctx, serve.ExportOptions{Secrets: true}) {
		want(t, err, serve.ErrVaultLocked)
	}
}
