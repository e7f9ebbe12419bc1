package archive

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
)

var at = time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)

// life returns the body of an archive with records of every kind.
func life(t *testing.T) []Record {
	t.Helper()
	var out []Record
	put := func(kind string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Record{kind, b})
	}
	put(KindUtterance, memory.Utterance{ID: memory.ID{9}, At: at, Speaker: "Ann*", Text: "<!-- locket:assertion {} -->\n# I [live] in _Lyon_ --> & more"})
	put(KindUtterance, memory.Utterance{ID: memory.ID{8}, Text: "when?"})
	seq := uint64(0)
	say := func(id byte, act memory.Act, c *memory.Candidate, secret string) {
		seq++
		if c != nil {
			c.Owner.User, c.Evidence = "w", []memory.Evidence{{At: at, Speaker: "Ann", Excerpt: c.Text}}
		}
		put(KindAssertion, Assertion{memory.Assertion{Dot: memory.Dot{Seq: seq}, Memory: memory.ID{id}, Space: memory.SpaceID{1}, Rank: memory.RankPerson, Act: act, Candidate: c,
			Clock: memory.Clock{Wall: at.UnixMilli() + int64(seq)}}, secret})
	}
	home := func(place string) *memory.Candidate {
		return &memory.Candidate{Type: memory.Semantic, Text: "Ann lives in " + place, Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: place}}
	}
	say(1, memory.ActPropose, home("Ghent"), "")
	say(2, memory.ActPropose, home("Lyon"), "")
	say(2, memory.ActPin, nil, "")
	say(3, memory.ActPropose, &memory.Candidate{Type: memory.Procedural, Text: "Bread", Fields: memory.Fields{Procedural: &memory.ProceduralFields{Steps: []string{"mix", "bake"}}}}, "")
	say(4, memory.ActPropose, &memory.Candidate{Type: memory.Resource, Text: "A photo", Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "Photo", MediaType: "image/jpeg", Content: "two\nlines", Blob: memory.ID{40}.String()}}}, "")
	say(5, memory.ActPropose, &memory.Candidate{Type: memory.Vault, Text: "Wifi", Fields: memory.Fields{Vault: &memory.VaultFields{Label: "wifi", EntryType: "password", Sealed: []byte{1}}}}, "tulip")
	say(6, memory.ActPropose, &memory.Candidate{Type: memory.Episodic, Text: "Lunch", Fields: memory.Fields{Episodic: &memory.EpisodicFields{Place: "Miro", Started: at}}}, "")
	say(7, memory.ActPin, nil, "") // about a memory that nobody proposed
	for r, err := range Parts(Part{Name: memory.ID{40}, Owner: memory.ID{4}}, strings.NewReader(strings.Repeat("jpeg", PartSize/4)+"!")) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	for r, err := range Parts(Part{Name: memory.ID{41}, Owner: memory.ID{6}}, strings.NewReader("")) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func seq(list []Record) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func gather(t *testing.T, records iter.Seq2[Record, error]) (out []Record) {
	t.Helper()
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func signed(t *testing.T) ([]Record, ed25519.PublicKey) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(d []byte) (Signature, error) {
		return Signature{public, d, keyring.SignWith(key, Domain, d)}, nil
	}
	return gather(t, Make(Header{Space: memory.SpaceID{1}, At: at, Wearer: "Ann", Zone: "Asia/Tokyo"}, seq(life(t)), sign)), public
}

// A changed record, an added or removed record, and a different order of the
// framing records are detected.
func TestCheck(t *testing.T) {
	all, key := signed(t)
	sum, err := Check(seq(all), nil)
	if err != nil || !bytes.Equal(sum.Key, key) || sum.Records != len(all)-3 || sum.Header.Wearer != "Ann" {
		t.Fatalf("%+v, %v", sum, err)
	}
	n := len(all)
	if sum, err = Check(seq(all[:n-1]), nil); err != nil || sum.Key != nil {
		t.Fatalf("without a signature: %+v, %v", sum, err)
	}
	spaced := slices.Clone(all)
	spaced[1].Data = bytes.ReplaceAll(spaced[1].Data, []byte(`":`), []byte(`": `))
	if _, err := Check(seq(spaced), nil); err != nil {
		t.Fatalf("blanks between JSON's tokens count: %v", err)
	}
	if _, err := Check(seq(nil), nil); !errors.Is(err, memory.ErrInvalid) || errors.Is(err, ErrCut) {
		t.Errorf("an empty archive: %v", err)
	}
	shuffled := slices.Clone(all)
	slices.Reverse(shuffled[1 : n-2])
	if _, err := Check(seq(shuffled), nil); err != nil {
		t.Fatalf("the order counts: %v", err)
	}
	for i := range all {
		changed := slices.Clone(all)
		changed[i].Data = bytes.Replace(changed[i].Data, []byte(`"`), []byte(`"x`), 1)
		if _, err := Check(seq(changed), nil); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("record %d (%s) changed: %v", i, all[i].Kind, err)
		}
		less := slices.Delete(slices.Clone(all), i, i+1)
		if _, err := Check(seq(less), nil); i < n-1 && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("without record %d (%s): %v", i, all[i].Kind, err)
		}
		more := slices.Insert(slices.Clone(all), i, all[i])
		if _, err := Check(seq(more), nil); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("record %d (%s) twice: %v", i, all[i].Kind, err)
		}
	}
	swapped := slices.Clone(all) // the same number of records
	swapped[1] = swapped[2]
	if _, err := Check(seq(swapped), nil); !errors.Is(err, ErrForged) {
		t.Errorf("one record in place of another: %v", err)
	}
}

// folder is a Folder in memory.
type folder fstest.MapFS

type file struct {
	bytes.Buffer
	in   folder
	name string
}

func (f folder) Create(name string) (io.WriteCloser, error) { return &file{in: f, name: name}, nil }

func (f *file) Close() error {
	if f.in[f.name] != nil {
		return fs.ErrExist
	}
	f.in[f.name] = &fstest.MapFile{Data: f.Bytes()}
	return nil
}

// A notebook returns the same set of records, for which its signature is still
// valid. Text that a person changed is reported but not imported, and changed
// records are detected.
func TestNotebook(t *testing.T) {
	all, key := signed(t)
	f := folder{}
	if _, err := WriteNotebook(seq(all), f); err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string]string{
		"semantic.md": "Ann lives in Lyon", "procedural.md": "2. bake", "resource.md": "![Photo](blobs/" + memory.ID{40}.String() + ".jpg)",
		"days/2026-03-02.md": "&lt;!-- locket:assertion {} --&gt;", "days/undated.md": "when?", "vault.md": "Wifi", "README.md": "1 in [days](days/)",
	} {
		if f[name] == nil || !strings.Contains(string(f[name].Data), has) {
			t.Errorf("%s has no %q: %s", name, has, f[name].Data)
		}
	}
	if !strings.Contains(string(f["semantic.md"].Data), "superseded") {
		t.Error("the old home is shown as if it were so")
	}
	got, edited, err := ReadNotebook(fstest.MapFS(f), MaxNotebook)
	if err != nil || len(edited) > 0 {
		t.Fatalf("edited %v, %v", edited, err)
	}
	sum, err := Check(got, nil)
	if err != nil || !bytes.Equal(sum.Key, key) {
		t.Fatalf("read back: %+v, %v", sum, err)
	}
	was, now := sorted(all), sorted(gather(t, got))
	if !slices.Equal(was, now) {
		t.Fatalf("%d records became %d", len(was), len(now))
	}

	change := func(name, old, new string) folder {
		c := folder{}
		for n, file := range f {
			c[n] = &fstest.MapFile{Data: bytes.Replace(file.Data, []byte(old), []byte(new), map[bool]int{true: -1, false: 0}[n == name])}
		}
		return c
	}
	words := change("procedural.md", "1. mix", "1. stir")
	got, edited, err = ReadNotebook(fstest.MapFS(words), MaxNotebook)
	if err != nil || !slices.Equal(edited, []string{"procedural.md"}) {
		t.Fatalf("edited %v, %v", edited, err)
	}
	if _, err := Check(got, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []folder{
		change("procedural.md", `"mix"`, `"stir"`), change("resource.md", "<!-- locket:file", "<!-- file"),
		change("blobs/"+memory.ID{40}.String()+".jpg", "!", "?"), change("README.md", "locket:signature", "locket:sig"),
	} {
		got, _, err := ReadNotebook(fstest.MapFS(c), MaxNotebook)
		if err == nil {
			_, err = Check(got, nil)
		}
		if !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("changed records: %v", err)
		}
	}
	for _, c := range []folder{{}, {"README.md": {Data: []byte("# mine\n")}}, {"README.md": {Data: []byte("<!-- locket:header {\"version\":1} -->\n<!-- locket:file {\"name\":\"\",\"ext\":\"/../../x\"} -->\n")}}} {
		if _, _, err := ReadNotebook(fstest.MapFS(c), MaxNotebook); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("no notebook: %v", err)
		}
	}
}

func sorted(list []Record) (out []string) {
	for _, r := range list {
		out = append(out, r.Kind+" "+string(r.Data))
	}
	slices.Sort(out)
	return out
}

// An archive that breaks off causes an error, whatever came before.
func TestBroken(t *testing.T) {
	broken := errors.New("broken")
	body := func(yield func(Record, error) bool) { yield(Record{}, broken) }
	if _, err := Check(Make(Header{}, body, nil), nil); !errors.Is(err, broken) {
		t.Errorf("make: %v", err)
	}
	if _, err := WriteNotebook(Make(Header{}, body, nil), folder{}); !errors.Is(err, broken) {
		t.Errorf("notebook: %v", err)
	}
	all, _ := signed(t)
	if _, err := Check(seq(all), func(Record) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("tap: %v", err)
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add("<!-- locket:header {\"version\":1} -->\n<!-- locket:utterance {\"text\":\"x\"} -->\n")
	f.Add("<!-- locket:header {} -->\n<!-- locket:assertion {\"candidate\":{}} -->\n<!-- locket:end {\"records\":1} -->\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := ReadNotebook(fstest.MapFS{"README.md": {Data: []byte(text)}}, MaxNotebook)
		if err == nil {
			_, err = Check(got, nil)
		}
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatal(err)
		}
	})
}
