//go:build linux

package powerloss

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// cut is the disk before one sync took effect.
type cut struct {
	at   string // the sync's number and path
	acks []string
	disk *frozen
	torn *frozen
}

// frozen is a file or folder of a cut.
type frozen struct {
	dir   bool
	data  []byte
	names map[string]*frozen
}

func (l *layer) keep(n *node) {
	at := fmt.Sprintf("sync %d, of %s", l.syncs, n.path)
	rng := rand.New(rand.NewPCG(uint64(l.syncs), 7))
	l.cuts = append(l.cuts, cut{at, slices.Clone(l.acks), l.root.freeze(nil, map[*node]*frozen{}), l.root.freeze(rng, map[*node]*frozen{})})
}

// freeze returns the disk below n; with rng, it is torn.
func (n *node) freeze(rng *rand.Rand, seen map[*node]*frozen) *frozen {
	if f := seen[n]; f != nil {
		return f
	}
	f := &frozen{dir: n.dir, data: n.disk}
	seen[n] = f
	if !n.dir {
		if rng != nil && len(n.dirt) > 0 {
			f.data = n.tear(rng)
		}
		return f
	}
	names := n.last
	if rng != nil {
		// Each name may have reached the disk independently. A rename is one change of all names
		// that it concerns, and is not split.
		names = maps.Clone(n.last)
		if rng.IntN(2) == 0 {
			names = n.now
		}
	}
	f.names = map[string]*frozen{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f.names[name] = names[name].freeze(rng, seen)
	}
	return f
}

// tear returns a file of which some unsynced pages were written.
func (n *node) tear(rng *rand.Rand) []byte {
	b := slices.Clone(n.disk)
	if rng.IntN(2) == 0 && len(n.data) != len(b) {
		b = append(b[:min(len(b), len(n.data))], make([]byte, max(0, len(n.data)-len(b)))...)
	}
	for _, p := range slices.Sorted(maps.Keys(n.dirt)) {
		if from := p * page; rng.IntN(2) == 0 && from < len(b) && from < len(n.data) {
			copy(b[from:min(from+page, len(b))], n.data[from:])
		}
	}
	return b
}

// write writes the cut's files into dir, which exists.
func (f *frozen) write(dir string) error {
	for name, c := range f.names {
		path := filepath.Join(dir, name)
		if !c.dir {
			if err := writeSparse(path, c.data); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		if err := c.write(path); err != nil {
			return err
		}
	}
	return nil
}

// writeSparse leaves out the zeros at the end, of which logs have megabytes.
func writeSparse(path string, b []byte) error {
	end := len(b)
	for end > 0 && b[end-1] == 0 {
		end--
	}
	if err := os.WriteFile(path, b[:end], 0o600); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(b)))
}

// sum identifies equal cuts, so that each is opened once.
func (f *frozen) sum() uint64 {
	h := fnv.New64a()
	var walk func(f *frozen, path string)
	walk = func(f *frozen, path string) {
		fmt.Fprintf(h, "%s\x00%v\x00", path, f.dir)
		h.Write(f.data)
		for _, name := range slices.Sorted(maps.Keys(f.names)) {
			walk(f.names[name], path+"/"+name)
		}
	}
	walk(f, "")
	return h.Sum64()
}
