package transfer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// exportOf returns an export as a list, and the words of its signer's key.
func exportOf(t *testing.T, n *node.Node, opt serve.ExportOptions) (out []archive.Record, signer string) {
	t.Helper()
	for r, err := range n.Export(t.Context(), opt) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
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

func recordsOf(list []archive.Record) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// wholeLife returns a node with something of everything in it.
func wholeLife(t *testing.T) (n *node.Node, secret memory.ID) {
	n = nodetest.New(t, nil)
	ctx := t.Context()
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	nodetest.Hear(t, n, day, "Ana", "I live in Lisbon.")
	nodetest.Hear(t, n, day.Add(time.Hour), "Ana", "I moved to Porto.")
	nodetest.Hear(t, n, day.Add(2*time.Hour), "Ana", "The wifi password is tulip-42-harbor.")
	no := false
	res, err := n.Add(ctx, serve.AddRequest{Text: "Ana likes herons", Infer: &no, Tags: []string{"birds"}, Metadata: memory.Metadata{"k": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	id := res.Changes[0].Memory
	for _, err := range []error{
		only(n.Pin(ctx, id, true)), only(n.Update(ctx, id, serve.UpdateRequest{Text: new("Ana loves herons"), Untag: []string{"birds"}, Tag: []string{"nature"}})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	res, err = n.Add(ctx, serve.AddRequest{Text: "To be erased", Infer: &no})
	if err == nil {
		err = n.Delete(ctx, res.Changes[0].Memory)
	}
	if err != nil {
		t.Fatal(err)
	}
	st, release, err := n.Archives.Store()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	b, err := st.WriteBlob(ctx, strings.NewReader(strings.Repeat("jpeg", archive.PartSize/3)))
	if err != nil {
		t.Fatal(err)
	}
	photo, err := n.Add(ctx, serve.AddRequest{Text: "A photo of a heron", Infer: &no, Type: memory.Resource,
		Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "Heron", MediaType: "image/jpeg", Blob: b.ID.String()}}})
	if err == nil {
		err = st.Update(ctx, func(tx *store.Tx) error { return tx.KeepBlob(b, photo.Changes[0].Memory) })
	}
	if err != nil {
		t.Fatal(err)
	}
	page, err := n.List(ctx, serve.ListQuery{Type: memory.Vault, Limit: 5})
	if err != nil || len(page.Memories) != 1 {
		t.Fatalf("vault: %v, %v", page.Memories, err)
	}
	return n, page.Memories[0].ID
}

func only[T any](_ T, err error) error { return err }

// contents returns what a node holds, as far as it is the same in another space.
func contents(t *testing.T, n *node.Node) string {
	t.Helper()
	page, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range page.Memories {
		m.Space = memory.SpaceID{}
		for i := range m.Conflict {
			m.Conflict[i].Dot = memory.Dot{}
		}
		if v := m.Fields.Vault; v != nil {
			v.Sealed = nil
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// An export brings everything to another node: memories unchanged, their past, their photos,
// and, where asked for, the secrets of the vault. After that it adds nothing more, however
// often it comes.
func TestRoundTrip(t *testing.T) {
	from, secret := wholeLife(t)
	ctx := t.Context()
	if err := from.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	all, signer := exportOf(t, from, serve.ExportOptions{Secrets: true})
	var home string
	to := nodetest.New(t, func(c *config.Config) { home = c.Home })
	if _, err := to.Import(ctx, recordsOf(all), serve.ImportOptions{}); !errors.Is(err, serve.ErrSigner) || !strings.Contains(err.Error(), signer) {
		t.Fatalf("a stranger's: %v", err)
	}
	res, err := to.Import(ctx, recordsOf(all), serve.ImportOptions{Signer: signer})
	if err != nil || res.Refused > 0 || res.Taken != len(all)-3-1 { // the blob's two parts count once
		t.Fatalf("%+v of %d, %v", res, len(all), err)
	}
	if was, now := contents(t, from), contents(t, to); was != now {
		t.Fatalf("were\n%s\nare\n%s", was, now)
	}
	if err := to.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if r, err := to.Reveal(ctx, secret); err != nil || r.Secret != "tulip-42-harbor" {
		t.Fatalf("the secret: %v, %v", r, err)
	}
	again, err := to.Import(ctx, recordsOf(all), serve.ImportOptions{Signer: signer})
	if err != nil || again.Taken != 0 {
		t.Fatalf("again: %+v, %v", again, err)
	}
	back, _ := exportOf(t, to, serve.ExportOptions{Secrets: true})
	if a, b := bodyOf(t, all), bodyOf(t, back); a != b {
		t.Fatalf("exported\n%s\nthen\n%s", a, b)
	}
	mine, err := from.Import(ctx, recordsOf(all), serve.ImportOptions{})
	if err != nil || mine.Taken != 0 || mine.Refused != 0 {
		t.Fatalf("into the node that it is of: %+v, %v", mine, err)
	}
	book := pages{}
	if _, err := archive.WriteNotebook(recordsOf(all), book); err != nil {
		t.Fatal(err)
	}
	read, edited, err := archive.ReadNotebook(fstest.MapFS(book), archive.MaxNotebook)
	if err != nil || len(edited) > 0 {
		t.Fatalf("notebook: edited %v, %v", edited, err)
	}
	third := nodetest.New(t, nil)
	if res, err := third.Import(ctx, read, serve.ImportOptions{Signer: signer}); err != nil || res.Refused > 0 || contents(t, third) != contents(t, from) {
		t.Fatalf("from a notebook: %+v, %v", res, err)
	}
	if left := blobs(t, home); left != 1 {
		t.Fatalf("%d blobs: what was put aside is still there", left)
	}
}

// pages is a folder in memory.
type pages fstest.MapFS

func (p pages) Create(name string) (io.WriteCloser, error) {
	f := &fstest.MapFile{}
	p[name] = f
	return pageWriter{f}, nil
}

type pageWriter struct{ *fstest.MapFile }

func (w pageWriter) Write(b []byte) (int, error) { w.Data = append(w.Data, b...); return len(b), nil }
func (w pageWriter) Close() error                { return nil }

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// bodyOf returns what is said in an archive, without what differs by space.
func bodyOf(t *testing.T, list []archive.Record) string {
	t.Helper()
	var out []string
	for _, r := range list {
		switch r.Kind {
		case archive.KindUtterance:
			var u memory.Utterance
			if err := json.Unmarshal(r.Data, &u); err != nil {
				t.Fatal(err)
			}
			u.Space = memory.SpaceID{}
			out = append(out, asJSON(t, u))
		case archive.KindAssertion:
			var a archive.Assertion
			if err := json.Unmarshal(r.Data, &a); err != nil {
				t.Fatal(err)
			}
			a.Space, a.Dot = memory.SpaceID{}, memory.Dot{}
			for i := range a.Seen {
				a.Seen[i] = memory.Dot{}
			}
			if a.Candidate != nil && a.Candidate.Fields.Vault != nil {
				a.Candidate.Fields.Vault.Sealed = nil
			}
			out = append(out, asJSON(t, a))
		case archive.KindBlob:
			out = append(out, string(r.Data))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// Nothing of an archive is accepted that is incomplete or was not signed, and nothing of it
// stays on the disk. An import names the secrets that it can't open. A second archive, with
// their values, opens them.
func TestSecretsSealedToAnotherDevice(t *testing.T) {
	from, secret := wholeLife(t)
	ctx := t.Context()
	if err := from.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	to := nodetest.New(t, nil)
	if err := to.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	all, signer := exportOf(t, from, serve.ExportOptions{})
	res, err := to.Import(ctx, recordsOf(all), serve.ImportOptions{Signer: signer})
	if err != nil || len(res.Sealed) != 1 {
		t.Fatalf("sealed: %+v, %v", res, err)
	}
	if _, signer := exportOf(t, to, serve.ExportOptions{Secrets: true}); signer == "" { // a backup of it is made, too
		t.Error("no export with secrets of a node with one that it can't open")
	}
	if _, err := to.Reveal(ctx, secret); err == nil || !strings.Contains(err.Error(), "the secret \""+res.Sealed[0]+"\" is sealed to another device") {
		t.Errorf("the secret: %v", err)
	}
	if res, err := from.Import(ctx, recordsOf(all), serve.ImportOptions{}); err != nil || len(res.Sealed) > 0 {
		t.Errorf("into the node that it is of: %+v, %v", res, err)
	}
	all, _ = exportOf(t, from, serve.ExportOptions{Secrets: true})
	for _, taken := range []int{1, 0} {
		res, err := to.Import(ctx, recordsOf(all), serve.ImportOptions{Signer: signer})
		if err != nil || res.Taken != taken || len(res.Sealed) > 0 {
			t.Errorf("with secrets: %+v, %v, want %d taken", res, err, taken)
		}
		if r, err := to.Reveal(ctx, secret); err != nil || r.Secret != "tulip-42-harbor" {
			t.Errorf("the secret: %v, %v", r, err)
		}
	}
	third := nodetest.New(t, nil)
	if err := third.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	all, signer = exportOf(t, to, serve.ExportOptions{Secrets: true})
	if res, err := third.Import(ctx, recordsOf(all), serve.ImportOptions{Signer: signer}); err != nil || len(res.Sealed) > 0 {
		t.Errorf("from where it was sealed anew: %+v, %v", res, err)
	}
	if r, err := third.Reveal(ctx, secret); err != nil || r.Secret != "tulip-42-harbor" {
		t.Errorf("the secret that was sealed anew: %v, %v", r, err)
	}
}

// A secret that is said while an archive is made is in it with its value, since otherwise a
// restored home could not open it.
func TestSecretSaidDuringAnExport(t *testing.T) {
	from, _ := wholeLife(t)
	ctx := t.Context()
	if err := from.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var all []archive.Record
	for r, err := range from.Export(ctx, serve.ExportOptions{Secrets: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, r); len(all) > 1 {
			continue
		}
		if res, err := from.Add(ctx, serve.AddRequest{Text: "my bike lock code is 4471"}); err != nil || res.Redacted != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if log, err := from.VaultLog(ctx, 10); err != nil || len(log.Reads) > 0 || log.Exported.IsZero() {
		t.Errorf("nobody has looked, and an export took secrets along: %+v, %v", log, err)
	}
	sum, err := archive.Check(recordsOf(all), nil)
	if err != nil {
		t.Fatal(err)
	}
	to := nodetest.New(t, nil)
	if res, err := to.Import(ctx, recordsOf(all), serve.ImportOptions{Signer: archive.Words(sum.Key)}); err != nil || len(res.Sealed) > 0 {
		t.Errorf("sealed to the first home: %+v, %v", res, err)
	}
	if err := to.UnlockVault(ctx, nodetest.Passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	page, err := to.List(ctx, serve.ListQuery{Type: memory.Vault, Limit: 10})
	if err != nil || len(page.Memories) != 2 {
		t.Fatalf("%+v, %v", page, err)
	}
	for _, m := range page.Memories {
		if _, err := to.Reveal(ctx, m.ID); err != nil {
			t.Error(err)
		}
	}
}

func TestBrokenArchives(t *testing.T) {
	from, _ := wholeLife(t)
	all, signer := exportOf(t, from, serve.ExportOptions{})
	var home string
	to := nodetest.New(t, func(c *config.Config) { home = c.Home })
	n := len(all)
	forged := slices.Clone(all)
	for i := range forged {
		forged[i].Data = bytes.ReplaceAll(forged[i].Data, []byte("herons"), []byte("storks"))
	}
	broken := func(yield func(archive.Record, error) bool) {
		for _, r := range all[:n/2] {
			if !yield(r, nil) {
				return
			}
		}
		yield(archive.Record{}, io.ErrUnexpectedEOF)
	}
	for name, in := range map[string]iter.Seq2[archive.Record, error]{"cut off": recordsOf(all[:n-2]), "forged": recordsOf(forged), "broken off": broken} {
		if _, err := to.Import(t.Context(), in, serve.ImportOptions{Signer: signer, Unsigned: true}); err == nil {
			t.Errorf("%s: taken", name)
		}
		if got := contents(t, to); got != "" || blobs(t, home) != 0 {
			t.Errorf("%s: left %s and %d blobs", name, got, blobs(t, home))
		}
	}
	// A blob whose parts don't follow each other is refused, and the rest is accepted.
	var loose []archive.Record
	for _, r := range all[:n-2] {
		if r.Kind != archive.KindBlob || !bytes.Contains(r.Data, []byte(`"part":0`)) {
			loose = append(loose, r)
		}
	}
	made := archive.Make(archive.Header{Space: memory.SpaceID{1}}, recordsOf(append(loose[1:], archive.Record{Kind: "odd", Data: json.RawMessage("{}")})), nil)
	res, err := to.Import(t.Context(), made, serve.ImportOptions{Unsigned: true})
	if err != nil || res.Refused != 1 || res.Taken == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// A crash in the middle of an import leaves nothing of the archive: the next start removes
// what was put aside. Forgetting in the meantime leaves it readable.
func TestACrashWhileImporting(t *testing.T) {
	from, _ := wholeLife(t)
	all, _ := exportOf(t, from, serve.ExportOptions{})
	var cfg config.Config
	n := nodetest.New(t, func(c *config.Config) { cfg = *c })
	st, release, err := n.Archives.Store()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	aside, err := n.PutAside(t.Context(), recordsOf(all))
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := st.ReadBlob(aside)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := io.ReadAll(r); err != nil || !bytes.Contains(text, []byte("herons")) {
		t.Fatalf("put aside: %d bytes, %v", len(text), err)
	}
	if blobs(t, cfg.Home) != 1 {
		t.Fatal("nothing was put aside: this test shows nothing")
	}
	home := cfg.Home
	cfg.Home = filepath.Join(t.TempDir(), "home")
	cfg.Defaults()
	if err := os.CopyFS(cfg.Home, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	again, err := node.Open(cfg, nodetest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Unlock(t.Context(), nodetest.Passphrase); err != nil {
		t.Fatal(err)
	}
	if left := blobs(t, cfg.Home); left != 0 {
		t.Errorf("%d blobs are left", left)
	}
}

// A memory about which more was said than fits into a transaction is imported whole. Two
// members correct it in turns, each having seen the other's correction. In an archive, where
// each correction stands on its own, most of what is overruled comes after what overrules it.
func TestImportOfAMemoryWithManyAssertions(t *testing.T) {
	const count = 500
	made := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	id := memory.ID{7}
	dot := func(i int) memory.Dot {
		return memory.Dot{Member: memory.MemberID{byte(1 + i%2)}, Seq: uint64(1 + i/2)}
	}
	var list [2][]archive.Record
	for i := range count {
		text := fmt.Sprintf("The kayak lies at jetty %d", i)
		a := archive.Assertion{Assertion: memory.Assertion{Dot: dot(i), Clock: memory.Clock{Wall: made.UnixMilli() + int64(i)}, Rank: memory.RankPerson,
			Space: memory.SpaceID{1}, Memory: id, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}, Source: memory.Source{Plugin: "test"}}}
		switch i {
		case 0:
			a.Act, a.Patch = memory.ActPropose, nil
			a.Candidate = &memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: memory.WearerUser}, Confidence: .9, Sensitivity: memory.Personal,
				Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, Speaker: "Ana", At: made, Excerpt: text}}, Source: a.Source}
		default:
			a.Seen = []memory.Dot{dot(i - 1)}
		}
		list[i%2] = append(list[i%2], archive.Record{Kind: archive.KindAssertion, Data: json.RawMessage(asJSON(t, a))})
	}
	n := nodetest.New(t, nil)
	for again, want := range []int{count, 0} {
		in := archive.Make(archive.Header{Space: memory.SpaceID{1}}, recordsOf(slices.Concat(list[0], list[1])), nil)
		res, err := n.Import(t.Context(), in, serve.ImportOptions{Unsigned: true})
		if err != nil || res.Refused > 0 || res.Taken != want {
			t.Fatalf("import %d: %+v, %v", again+1, res, err)
		}
	}
	page, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 10})
	if err != nil || len(page.Memories) != 1 {
		t.Fatalf("%+v, %v", page.Memories, err)
	}
	if m := page.Memories[0]; m.Text != "The kayak lies at jetty 499" || len(m.Conflict) > 0 {
		t.Errorf("%q, %d conflicts: something that was overruled is not", m.Text, len(m.Conflict))
	}
}

// blobs counts the blob files.
func blobs(t *testing.T, home string) (count int) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == "blobs" {
			count++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}
