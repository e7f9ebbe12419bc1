package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// finder is one engine under test, in a folder of its own.
type finder interface {
	// build indexes all lines and leaves them in the folder.
	build(ctx context.Context, lines []line) error
	// open reads what build left, in a new process.
	open(ctx context.Context) error
	// find gives the indexes of at most k lines, best first.
	find(ctx context.Context, text string, k int) ([]int, error)
	close() error
}

// newFinder makes the engine with this name. The settings follow the engines' documentation:
//
//	locket   the defaults; segments sealed with AES-256-GCM in files
//	bleve    v2, scorch on disk, analyzer "en" (over Chinese "cjk"), match query,
//	         batches of 1,000
//	chromem  in memory; embedding by hashing words and their letters into 256
//	         dimensions (it needs one, and there is no model): exact search
//	sqlite   FTS5, tokenizer porter, bm25 rank, words joined by OR; WAL, one
//	         transaction, optimized after
func newFinder(name, dir string) (finder, error) {
	switch name {
	case "locket":
		return &locketFinder{dir: dir}, nil
	case "bleve":
		return &bleveFinder{dir: dir, analyzer: "en"}, nil
	case "chromem":
		return &chromemFinder{}, nil
	case "sqlite":
		return &sqliteFinder{dir: dir}, nil
	}
	return nil, fmt.Errorf("there is no engine %q", name)
}

var finders = []string{"locket", "bleve", "chromem", "sqlite"}

type locketFinder struct {
	dir   string
	index *recall.Index
}

// lineID turns a line's index into an id and back. The ids are random, like those from an HMAC, and
// have the index in their last bytes.
func lineID(l *line, i int) memory.ID {
	id := l.id
	id[12], id[13], id[14], id[15] = byte(i>>24), byte(i>>16), byte(i>>8), byte(i)
	return id
}

func (f *locketFinder) build(ctx context.Context, lines []line) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		d := recall.Doc{ID: lineID(l, i), Kind: recall.Utterance, Session: l.session, At: l.at, Order: l.order, Speaker: l.speaker, Text: l.text}
		if err := f.index.Add(d); err != nil {
			return err
		}
	}
	return f.index.Flush(ctx, uint64(len(lines)))
}

func (f *locketFinder) open(ctx context.Context) (err error) {
	f.index, err = recall.Open(ctx, newSealedFolder(f.dir), recall.Options{})
	return err
}

func (f *locketFinder) find(ctx context.Context, text string, k int) ([]int, error) {
	r, err := f.index.Search(ctx, recall.Query{Text: text, K: k, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return nil, err
	}
	out := make([]int, len(r.Hits))
	for i, h := range r.Hits {
		out[i] = int(h.ID[12])<<24 | int(h.ID[13])<<16 | int(h.ID[14])<<8 | int(h.ID[15])
	}
	return out, nil
}

func (f *locketFinder) close() error { return f.index.Close() }

// sealedFolder keeps segments as files, each sealed with AES-256-GCM.
type sealedFolder struct {
	dir  string
	aead cipher.AEAD
}

func newSealedFolder(dir string) *sealedFolder {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		panic(err) // the key has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the right block
	}
	return &sealedFolder{dir, aead}
}

func (s *sealedFolder) Put(_ context.Context, name string, b []byte) error {
	return os.WriteFile(filepath.Join(s.dir, name), s.aead.Seal(nil, nil, b, []byte(name)), 0o600)
}

func (s *sealedFolder) Get(_ context.Context, name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, memory.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return s.aead.Open(nil, nil, b, []byte(name))
}

func (s *sealedFolder) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

func (s *sealedFolder) Delete(_ context.Context, name string) error {
	return os.Remove(filepath.Join(s.dir, name))
}

// embed hashes a text's words and their runs of three letters into 256
// dimensions, signed, of length 1.
func embed(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 256)
	put := func(s string, w float32) {
		h := uint32(2166136261) // FNV-1a
		for i := 0; i < len(s); i++ {
			h = (h ^ uint32(s[i])) * 16777619
		}
		if h>>31 != 0 {
			w = -w
		}
		v[h%256] += w
	}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		put(w, 1)
		for i := 0; i+3 <= len(w); i++ {
			put(w[i:i+3], .3)
		}
	}
	sum := 1e-9
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v, nil
}

func folderBytes(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		i, err := d.Info()
		if err == nil {
			sum += i.Size()
		}
		return err
	})
	return sum, err
}

func lineNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
