package share_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
)

func TestThreatBuyerSharesOn(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, garden()...)
	stranger, key := newReader(t)
	other, otherKey := newReader(t)
	third, _ := newReader(t)

	wish := share.ShareSpec{Title: "our garden", Criteria: share.Criteria{Query: "tomatoes", Tags: []string{"garden"}, Most: memory.Personal},
		Redact: share.Redaction{Names: true, Places: true, Times: true, Words: []string{"second"}}, To: []string{"Stranger=" + key, otherKey}}
	p, err := w.Preview(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Copies) != 2 || len(p.Parties) != 2 || p.Parties[0].Name != "Stranger" {
		t.Fatalf("preview: %+v", p)
	}
	if left, _ := os.ReadDir(w.dir); len(left) != 0 || len(w.records) != 0 {
		t.Error("a preview leaves something behind")
	}
	wish.Confirm = "something else"
	if _, err := w.Create(t.Context(), wish); !errors.Is(err, share.ErrChanged) {
		t.Errorf("create what was not shown: %v", err)
	}
	wish.Confirm = p.Confirm
	rec, err := w.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	link, err := share.ParseLink(rec.Link().String())
	if err != nil || link != rec.Link() {
		t.Fatalf("link %s came back as %+v: %v", rec.Link(), link, err)
	}

	want := []string{"The tomatoes want water every […] day", "[…] grows tomatoes in the garden in […]"}
	for _, r := range []*share.Reader{stranger, other, stranger} {
		o, err := r.Open(t.Context(), link)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(o.Memories); !slices.Equal(got, want) {
			t.Errorf("reader sees %q, want %q", got, want)
		}
		for _, m := range o.Memories {
			if m.ID == w.memories[0].ID || m.ID == w.memories[1].ID || len(m.Evidence)+len(m.Links)+len(m.Metadata) > 0 || m.Source != (memory.Source{}) {
				t.Errorf("a copy says where it is from: %+v", m)
			}
		}
	}
	if _, seen, err := w.Show(t.Context(), rec.Space.String()[:8]); err != nil || !slices.Equal(texts(seen), want) {
		t.Errorf("show: %q, %v", texts(seen), err)
	}
	if _, err := third.Open(t.Context(), link); !errors.Is(err, share.ErrNotShared) {
		t.Errorf("one whom it was not shared with: %v", err)
	}

	// New memories come with an update, and what was erased is removed.
	w.memories = append(w.memories[1:], remembered("Basil grows well beside tomatoes", func(m *memory.Memory) { m.Tags = []string{"garden"} }))
	if _, ch, err := w.Update(t.Context(), rec.Space.String()); err != nil || ch != (share.Change{Added: 1, Removed: 1}) {
		t.Errorf("update: %+v, %v", ch, err)
	}
	want = []string{"Basil grows well beside tomatoes", "The tomatoes want water every […] day"}
	if o, err := stranger.Open(t.Context(), link); err != nil || !slices.Equal(texts(o.Memories), want) {
		t.Errorf("after the update: %q, %v", texts(o.Memories), err)
	}

	// One reader is removed: the other goes on, in a new epoch.
	if _, err := w.Revoke(t.Context(), rec.Space.String(), "Stranger"); err != nil {
		t.Fatal(err)
	}
	w.memories = append(w.memories, remembered("Tomatoes are ripe when they come off easily", func(m *memory.Memory) { m.Tags = []string{"garden"} }))
	if _, ch, err := w.Update(t.Context(), rec.Space.String()); err != nil || ch.Added != 1 {
		t.Errorf("update after one left: %+v, %v", ch, err)
	}
	if _, err := stranger.Open(t.Context(), link); !errors.Is(err, share.ErrNotShared) {
		t.Errorf("the reader that was put out: %v", err)
	}
	if o, err := other.Open(t.Context(), link); err != nil || len(o.Memories) != 3 {
		t.Errorf("the other reader: %q, %v", texts(o.Memories), err)
	}
	kept, err := stranger.ReadKept(t.Context(), link)
	if err != nil || !slices.Equal(texts(kept.Memories), want) {
		t.Errorf("what was fetched before: %q, %v", texts(kept.Memories), err)
	}

	// The whole share is revoked.
	done, err := w.Revoke(t.Context(), rec.Space.String(), "")
	if err != nil || done.Revoked.IsZero() {
		t.Fatalf("revoke: %+v, %v", done, err)
	}
	for _, r := range []*share.Reader{stranger, other} {
		if _, err := r.Open(t.Context(), link); !errors.Is(err, share.ErrNotShared) {
			t.Errorf("after revocation: %v", err)
		}
	}
	if _, err := service.store.Space(t.Context(), rec.Space); !errors.Is(err, relay.ErrNotFound) {
		t.Errorf("the relay still has it: %v", err)
	}
	if _, _, err := w.Update(t.Context(), rec.Space.String()); !errors.Is(err, share.ErrRevoked) {
		t.Errorf("update after revocation: %v", err)
	}
	if left, _ := os.ReadDir(w.dir); len(left) != 0 {
		t.Errorf("%d folders are left", len(left))
	}
}

// Nothing that the relay has reveals a name, a place or a sentence, whether decompressed or not;
// nor do the reader's files.
func TestThreatListingMetadata(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, garden()...)
	reader, key := newReader(t)
	rec, err := w.Create(t.Context(), share.ShareSpec{Title: "our garden", Criteria: share.Criteria{Query: "tomatoes", Most: memory.Personal},
		Redact: share.Redaction{Names: true}, To: []string{"Stranger=" + key}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Open(t.Context(), rec.Link()); err != nil {
		t.Fatal(err)
	}
	clear := []string{"tomatoes", "Zuzana", "Horak", "Klara", "Lisbon", "garden", "Stranger", "second day"}
	for _, dir := range []string{service.dir, reader.Dir, w.dir} {
		files := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, text := range append(decompressed(b), b) {
				for _, word := range clear {
					if bytes.Contains(bytes.ToLower(text), []byte(strings.ToLower(word))) {
						t.Errorf("%s has %q", filepath.Base(path), word)
					}
				}
			}
			return nil
		})
		if err != nil || files == 0 {
			t.Fatalf("%d files: %v", files, err)
		}
	}
}

func decompressed(b []byte) (out [][]byte) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		panic(err)
	}
	defer d.Close()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for i := bytes.Index(b, magic); i >= 0; {
		if text, err := d.DecodeAll(b[i:], nil); err == nil || len(text) > 0 {
			out = append(out, text)
		}
		next := bytes.Index(b[i+1:], magic)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return out
}

// A reader of one share can't open another.
func TestReaderCannotOpenAnotherShare(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, garden()...)
	first, key1 := newReader(t)
	second, key2 := newReader(t)
	wish := share.ShareSpec{Criteria: share.Criteria{Query: "tomatoes"}, To: []string{key1}}
	wish.Criteria.Most = memory.Personal
	one, err := w.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	wish.To = []string{key2}
	two, err := w.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reader *share.Reader
		link   share.Link
		want   error
	}{{first, one.Link(), nil}, {second, two.Link(), nil}, {first, two.Link(), share.ErrNotShared}, {second, one.Link(), share.ErrNotShared}} {
		if _, err := c.reader.Open(t.Context(), c.link); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	third, key3 := newReader(t)
	wish.To = []string{key3}
	three, err := w.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	forged := three.Link()
	forged.Genesis[0]++
	if _, err := third.Open(t.Context(), forged); !errors.Is(err, remote.ErrAnswer) {
		t.Errorf("a link to another beginning: %v", err)
	}
	if _, err := third.Open(t.Context(), three.Link()); err != nil {
		t.Error(err)
	}
	if _, err := third.Open(t.Context(), forged); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a link to another beginning than the known one: %v", err)
	}
}

func TestExpiryAndErasure(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, garden()...)
	reader, key := newReader(t)
	rec, err := w.Create(t.Context(), share.ShareSpec{Criteria: share.Criteria{Query: "tomatoes", Most: memory.Personal}, To: []string{key}, Expires: day.Add(24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	w.memories = append(w.memories[1:], remembered("New tomatoes", nil))
	if err := w.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := reader.Open(t.Context(), rec.Link())
	if err != nil || !slices.Equal(texts(o.Memories), []string{"The tomatoes want water every second day"}) {
		t.Errorf("after an erasure: %q, %v", texts(o.Memories), err)
	}
	w.now = day.Add(25 * time.Hour)
	if err := w.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Open(t.Context(), rec.Link()); !errors.Is(err, share.ErrNotShared) {
		t.Errorf("after it expired: %v", err)
	}
	reader.Now = func() time.Time { return w.now }
	if o, err := reader.ReadKept(t.Context(), rec.Link()); err != nil || len(o.Memories) != 0 {
		t.Errorf("expired, and still shown: %q, %v", texts(o.Memories), err)
	}
}

// A copy ends when its original does, without any statement of the owner; there is no copy of what
// has ended.
func TestCopyExpiresWithItsOriginal(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, garden()...)
	w.memories[1].Expires = day.Add(time.Hour)
	reader, key := newReader(t)
	spec := share.ShareSpec{Criteria: share.Criteria{Query: "tomatoes want water", Most: memory.Personal}, To: []string{key}, Expires: day.Add(24 * time.Hour)}
	rec, err := w.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	reader.Now = func() time.Time { return w.now }
	const text = "The tomatoes want water every second day"
	if o, err := reader.Open(t.Context(), rec.Link()); err != nil || !slices.Contains(texts(o.Memories), text) {
		t.Fatalf("%q, %v", texts(o.Memories), err)
	}
	w.now = day.Add(2 * time.Hour)
	if o, err := reader.Open(t.Context(), rec.Link()); err != nil || slices.Contains(texts(o.Memories), text) {
		t.Errorf("still shown: %q, %v", texts(o.Memories), err)
	}
	if p, err := w.Preview(t.Context(), spec); err == nil && slices.ContainsFunc(p.Copies, func(c share.Copy) bool { return c.Candidate.Text == text }) {
		t.Error("shared anew")
	}
}

func TestInvalidShareSpecs(t *testing.T) {
	service := serveRelay(t)
	w := newWearer(t, service, garden()...)
	_, key := newReader(t)
	good := share.ShareSpec{Criteria: share.Criteria{Query: "tomatoes", Most: memory.Personal}, To: []string{key}}
	for name, c := range map[string]struct {
		change func(*share.ShareSpec)
		want   error
	}{
		"nothing chosen": {func(w *share.ShareSpec) { w.Criteria.Query = " " }, memory.ErrInvalid},
		"the vault":      {func(w *share.ShareSpec) { w.Criteria.Types = []memory.Type{memory.Vault} }, memory.ErrInvalid},
		"nobody":         {func(w *share.ShareSpec) { w.To = nil }, memory.ErrInvalid},
		"a bad key":      {func(w *share.ShareSpec) { w.To = []string{"Ann=" + key[:200]} }, memory.ErrInvalid},
		"a key twice":    {func(w *share.ShareSpec) { w.To = []string{key, "Ann=" + key} }, memory.ErrInvalid},
		"expired":        {func(w *share.ShareSpec) { w.Expires = day.Add(-time.Hour) }, memory.ErrInvalid},
		"nothing fits":   {func(w *share.ShareSpec) { w.Criteria.Query = "submarine" }, share.ErrNothing},
		"nothing remains": {func(w *share.ShareSpec) {
			w.Criteria.Query, w.Redact.Words = "moved", []string{"Klara", "moved", "to", "Porto"}
		}, share.ErrNothing},
		"too private": {func(w *share.ShareSpec) { w.Criteria.Query = "stolen" }, share.ErrNothing},
	} {
		wish := good
		c.change(&wish)
		if _, err := w.Create(t.Context(), wish); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if len(w.records) != 0 {
		t.Errorf("%d records are left", len(w.records))
	}
	private := good
	private.Criteria.Query, private.Criteria.Most = "stolen", memory.Private
	if _, err := w.Create(t.Context(), private); err != nil {
		t.Errorf("private, and asked for: %v", err)
	}
	if _, err := w.Revoke(t.Context(), "zzzz", ""); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("revoke what is not there: %v", err)
	}
}

// away is a network that can be cut.
type away struct{ cut bool }

func (a *away) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.cut {
		return nil, errors.New("network is cut")
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestRelayIsUnreachable(t *testing.T) {
	service := serveRelay(t)
	net := new(away)
	w := newWearer(t, service, garden()...)
	at, err := remote.New(service.url, remote.Option{HTTP: &http.Client{Transport: net}})
	if err != nil {
		t.Fatal(err)
	}
	w.Sharing = w.with(func(c *share.Config) { c.Relay = func() (*remote.Relay, string) { return at, service.url } })
	reader, key := newReader(t)
	wish := share.ShareSpec{Criteria: share.Criteria{Query: "tomatoes", Most: memory.Personal}, To: []string{key}}
	net.cut = true
	if _, err := w.Create(t.Context(), wish); err == nil {
		t.Fatal("shared over nothing")
	}
	net.cut = false
	if err := w.Maintain(t.Context()); err != nil { // what could not be undone then is undone now
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(w.dir); len(left) != 0 {
		t.Errorf("%d folders are left", len(left))
	}
	rec, err := w.Create(t.Context(), wish)
	if err != nil {
		t.Fatal(err)
	}
	net.cut = true
	if _, err := w.Revoke(t.Context(), rec.Space.String(), ""); err == nil {
		t.Fatal("revoked over nothing")
	}
	if _, _, err := w.Update(t.Context(), rec.Space.String()); !errors.Is(err, share.ErrRevoked) {
		t.Errorf("update of what is being revoked: %v", err)
	}
	net.cut = false
	if err := w.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Open(t.Context(), rec.Link()); !errors.Is(err, share.ErrNotShared) {
		t.Errorf("after revocation: %v", err)
	}
	if _, err := service.store.Space(t.Context(), rec.Space); !errors.Is(err, relay.ErrNotFound) {
		t.Errorf("the relay still has it: %v", err)
	}
}
