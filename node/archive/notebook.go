package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

// FORMAT of a notebook, a folder
//
//	README.md            whose it is, from when, and what is in it
//	core.md              memories of each type but episodic
//	semantic.md
//	procedural.md
//	resource.md
//	vault.md
//	days/2026-03-01.md   what was said on a day, and what happened on it
//	blobs/ID.EXT         photos and recordings
//
// Each record except the parts of blobs is in a comment on a separate line, after
// its text for people:
//
//	<!-- locket:KIND {"…":…} -->
//
// with the JSON as Go's encoder writes it, in which ">" is escaped. The parts of a
// blob are made from its file; a comment "locket:file" says to which memory it
// belongs. The text for people follows from the records: [ReadNotebook] renders it
// again, and reports the files in which a person changed it.

// Folder receives the files of a notebook.
type Folder interface {
	// Create makes a file; name has forward slashes. The file ends with Close.
	Create(name string) (io.WriteCloser, error)
}

// notebook is an archive in memory, without its blobs.
type notebook struct {
	header     Header
	headerLine json.RawMessage
	utterances []line[memory.Utterance]
	assertions []line[Assertion]
	files      []fileOf // sorted by name
	tail       []Record // end and signature
	zone       *time.Location
}

// line is a record and its text.
type line[T any] struct {
	raw  json.RawMessage
	says T
}

// fileOf says which memory a blob belongs to.
type fileOf struct {
	Name  memory.ID `json:"name"`
	Owner memory.ID `json:"owner"`
	Ext   string    `json:"ext"`
}

func (f *fileOf) path() string { return "blobs/" + f.Name.String() + f.Ext }

// WriteNotebook writes an archive to a folder. The archive is checked while it is
// written; after an error the folder is useless. All records except blobs are held
// in memory.
func WriteNotebook(records iter.Seq2[Record, error], to Folder) (Summary, error) {
	n := notebook{}
	var open io.WriteCloser
	var last memory.ID
	sum, err := Check(records, func(r Record) error {
		if r.Kind != KindBlob {
			return n.add(r)
		}
		var p Part
		if err := json.Unmarshal(r.Data, &p); err != nil {
			return fmt.Errorf("%w: blob: %w", memory.ErrInvalid, err)
		}
		if p.Part == 0 {
			f := fileOf{p.Name, p.Owner, extension(n.mediaType(p.Owner))}
			n.files = append(n.files, f)
			w, err := to.Create(f.path())
			if err != nil {
				return err
			}
			open, last = w, p.Name
		}
		if open == nil || p.Name != last {
			return fmt.Errorf("%w: blob %s: part %d without those before it", memory.ErrInvalid, p.Name, p.Part)
		}
		if _, err := open.Write(p.Data); err != nil || !p.Last {
			return err
		}
		w := open
		open = nil
		return w.Close()
	})
	if err != nil {
		return sum, err
	}
	pages := n.render()
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		w, err := to.Create(name)
		if err != nil {
			return sum, err
		}
		if _, err := io.WriteString(w, pages[name]); err != nil {
			return sum, err
		}
		if err := w.Close(); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// add adds a record that is not part of a blob.
func (n *notebook) add(r Record) error {
	var err error
	switch r.Kind {
	case KindHeader:
		n.headerLine = r.Data
		if err = json.Unmarshal(r.Data, &n.header); err == nil {
			if n.zone, err = time.LoadLocation(cmp.Or(n.header.Zone, "UTC")); err != nil {
				n.zone, err = time.UTC, nil
			}
		}
	case KindUtterance:
		l := line[memory.Utterance]{raw: r.Data}
		err = json.Unmarshal(r.Data, &l.says)
		n.utterances = append(n.utterances, l)
	case KindAssertion:
		l := line[Assertion]{raw: r.Data}
		err = json.Unmarshal(r.Data, &l.says)
		n.assertions = append(n.assertions, l)
	case KindEnd, KindSignature:
		n.tail = append(n.tail, r)
	default:
		return fmt.Errorf("%w: kind %q is not known", memory.ErrInvalid, r.Kind)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", memory.ErrInvalid, r.Kind, err)
	}
	return nil
}

func (n *notebook) mediaType(owner memory.ID) string {
	for i := range n.assertions {
		a := &n.assertions[i].says
		if a.Memory == owner && a.Candidate != nil && a.Candidate.Fields.Resource != nil {
			return a.Candidate.Fields.Resource.MediaType
		}
	}
	return ""
}

// extension returns the file name extension for a media type, so that a click
// opens the file.
func extension(media string) string {
	return map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "audio/wav": ".wav", "audio/ogg": ".ogg"}[media]
}

// memories derives the memories from the assertions.
func (n *notebook) memories() []memory.Memory {
	of := map[memory.ID][]memory.Assertion{}
	for i := range n.assertions {
		a := n.assertions[i].says.Assertion
		of[a.Memory] = append(of[a.Memory], a)
	}
	groups := map[string][]memory.Assertion{}
	for _, as := range of {
		sorting.Sort(as, func(a, b memory.Assertion) int { return a.Dot.Compare(b.Dot) })
		if i := slices.IndexFunc(as, func(a memory.Assertion) bool { return a.Candidate != nil }); i >= 0 {
			g := as[i].Candidate.Group()
			groups[g] = append(groups[g], as...)
		}
	}
	var out []memory.Memory
	for _, g := range groups {
		out = append(out, reconcile.Derive(g)...)
	}
	sorting.Sort(out, func(a, b memory.Memory) int {
		return cmp.Or(a.TrueFrom.Compare(b.TrueFrom), a.Learnt.Compare(b.Learnt), slices.Compare(a.ID[:], b.ID[:]))
	})
	return out
}

// MaxNotebook is the maximum number of bytes of all pages of a notebook together,
// because they are in memory while it is read. An export as lines has no such
// limit.
const MaxNotebook = 1 << 30

// MaxZipped returns the maximum number of bytes of all pages of a notebook
// together, given the size of its zip file. It is a hundred times that size,
// because text shrinks to a twentieth, and at least 64 MiB.
func MaxZipped(size int64) int64 {
	return min(MaxNotebook, max(64<<20, 100*min(size, MaxNotebook)))
}

var (
	pageName = regexp.MustCompile(`^(README|core|semantic|procedural|resource|vault|days/\d{4}-\d\d-\d\d|days/undated)\.md$`)
	comment  = regexp.MustCompile(`(?m)^<!-- locket:([a-z]+) (.*) -->$`)
)

// ReadNotebook returns the archive in a folder, in an order that an import
// accepts, and the pages whose text a person has changed since. The records count,
// and not the text. Files with other names are ignored. most limits the bytes of
// all pages together. Only the form is verified: see [Check]. Errors wrap
// [memory.ErrInvalid] if the folder is invalid.
func ReadNotebook(folder fs.FS, most int64) (records iter.Seq2[Record, error], edited []string, err error) {
	n := notebook{}
	found := map[string]string{}
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !pageName.MatchString(name) {
			return err
		}
		text, err := readPage(folder, name, most)
		if err != nil {
			return err
		}
		most -= int64(len(text))
		found[name] = text
		for _, m := range comment.FindAllStringSubmatch(text, -1) {
			r := Record{m[1], json.RawMessage(m[2])}
			if !json.Valid(r.Data) {
				return fmt.Errorf("%w: %s: a comment of kind %s is not JSON", memory.ErrInvalid, name, r.Kind)
			}
			if r.Kind == "file" {
				var f fileOf
				if err := json.Unmarshal(r.Data, &f); err != nil || f.Ext != "" && !strings.HasPrefix(f.Ext, ".") || strings.ContainsAny(f.Ext, `/\`) {
					return fmt.Errorf("%w: %s: a comment names no file", memory.ErrInvalid, name)
				}
				n.files = append(n.files, f)
				continue
			}
			if err := n.add(r); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if n.headerLine == nil {
		return nil, nil, fmt.Errorf("%w: README.md: there is no header; this is not the notebook of an export", memory.ErrInvalid)
	}
	n.sort()
	for name, text := range n.render() {
		if was, ok := found[name]; !ok || was != text {
			edited = append(edited, name)
		}
		delete(found, name)
	}
	edited = append(edited, slices.Collect(maps.Keys(found))...)
	slices.Sort(edited)
	return n.records(folder), edited, nil
}

func readPage(folder fs.FS, name string, most int64) (string, error) {
	f, err := folder.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%w: %s: this page makes the notebook larger than its limit; an export as lines has no limit", memory.ErrInvalid, name)
	}
	return string(b), err
}

// sort sorts the records in the order of pages and imports.
func (n *notebook) sort() {
	sorting.Sort(n.utterances, func(a, b line[memory.Utterance]) int {
		return cmp.Or(a.says.At.Compare(b.says.At), slices.Compare(a.says.ID[:], b.says.ID[:]))
	})
	sorting.Sort(n.assertions, func(a, b line[Assertion]) int {
		return cmp.Or(slices.Compare(a.says.Memory[:], b.says.Memory[:]), a.says.Dot.Compare(b.says.Dot))
	})
	sorting.Sort(n.files, func(a, b fileOf) int { return slices.Compare(a.Name[:], b.Name[:]) })
	sorting.Sort(n.tail, func(a, b Record) int { return cmp.Compare(a.Kind, b.Kind) })
}

// records returns the archive again, with the blobs from their files.
func (n *notebook) records(folder fs.FS) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if !yield(Record{KindHeader, n.headerLine}, nil) {
			return
		}
		for i := range n.utterances {
			if !yield(Record{KindUtterance, n.utterances[i].raw}, nil) {
				return
			}
		}
		for i := range n.assertions {
			if !yield(Record{KindAssertion, n.assertions[i].raw}, nil) {
				return
			}
		}
		for i := range n.files {
			if !n.files[i].parts(folder, yield) {
				return
			}
		}
		for _, r := range n.tail {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// parts splits a file into the records from which it was written.
func (f *fileOf) parts(folder fs.FS, yield func(Record, error) bool) bool {
	file, err := folder.Open(f.path())
	if err != nil {
		yield(Record{}, fmt.Errorf("%w: %w", memory.ErrInvalid, err))
		return false
	}
	defer file.Close()
	for r, err := range Parts(Part{Name: f.Name, Owner: f.Owner}, file) {
		if !yield(r, err) || err != nil {
			return false
		}
	}
	return true
}

// Parts splits what r returns into the records of a blob. Each has PartSize bytes
// except the last, which is shorter and may be empty.
func Parts(p Part, r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for buf := make([]byte, PartSize); !p.Last; p.Part++ {
			n := 0
			for n < len(buf) && !p.Last {
				got, err := r.Read(buf[n:])
				n += got
				if p.Last = err == io.EOF; err != nil && !p.Last {
					yield(Record{}, err)
					return
				}
			}
			p.Data = buf[:n]
			b, err := json.Marshal(p)
			if !yield(Record{KindBlob, b}, err) || err != nil {
				return
			}
		}
	}
}
