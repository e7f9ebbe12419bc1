package envstore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// FORMAT of a folder, under the name of the space (26 characters). FORMAT.md says how it is read
// and written:
//
//	log/NNNNNNNN-HHHHHHHHHHHHHHHH.entry            wire form of a log entry: its number, and the
//	                                               first 8 bytes of its hash
//	deltas/MEMBER-INCARNATION/SSSSSSSSSSSS.delta   wire form of a delta: member and incarnation in
//	                                               16 hexadecimal characters, seq in 12 digits
//	blobs/HASH.blob                                sealed bytes of a blob: their SHA-256
//
// A file is written under another name (.NAME.tmp…) and then renamed, so that it is complete or
// does not exist; two writers of one file write the same content. Files with other names are
// ignored, for example those that a synced folder makes after a conflict.

// maxChains and maxFiles bound what a folder may contain.
const (
	maxChains = 4096
	maxFiles  = 4_000_000
	maxBlob   = 1 << 30 // bytes, as at a relay
)

// Folder is a space's envelopes as files. Its content is not trusted:
// [Store.TakeDelta] checks each envelope. It is safe for concurrent use, also by
// several processes.
type Folder struct{ dir string }

// OpenFolder returns the folder of a space within dir. The first write creates
// it.
func OpenFolder(dir string, space memory.SpaceID) *Folder {
	return &Folder{filepath.Join(dir, space.String())}
}

// chain is one incarnation of a member.
type chain struct {
	member      memory.MemberID
	incarnation uint64
}

func (c chain) String() string { return fmt.Sprintf("%s-%016x", c.member, c.incarnation) }

func parseChain(s string) (c chain, ok bool) {
	member, inc, ok := strings.Cut(s, "-")
	if !ok || c.member.UnmarshalText([]byte(member)) != nil || len(inc) != 16 {
		return c, false
	}
	n, err := strconv.ParseUint(inc, 16, 64)
	c.incarnation = n
	return c, err == nil && c.String() == s
}

func chainOf(h *envelope.Header) chain { return chain{h.Member, h.Incarnation} }

func (c chain) ref(seq uint64) replica.Ref {
	return replica.Ref{Member: c.member, Position: envelope.Position{Incarnation: c.incarnation, Seq: seq}}
}

func deltaName(seq uint64) string { return fmt.Sprintf("%012d.delta", seq) }

func (f *Folder) deltaPath(c chain, seq uint64) string {
	return filepath.Join(f.dir, "deltas", c.String(), deltaName(seq))
}

func (f *Folder) blobPath(id envelope.Hash) string {
	return filepath.Join(f.dir, "blobs", id.String()+".blob")
}

// entries returns the wire forms of the log's files by number. If two files have
// the same number, it returns both. It calls odd for every entry that is not a plain file, or that
// is too large. An error of odd ends the reading.
func (f *Folder) entries(odd func(name string, err error) error) ([][]byte, error) {
	names, err := names(filepath.Join(f.dir, "log"))
	var out [][]byte
	for _, name := range names {
		number, rest, _ := strings.Cut(name, "-")
		if len(number) != 8 || len(rest) != 16+len(".entry") || !strings.HasSuffix(rest, ".entry") {
			continue
		}
		b, err := readFile(filepath.Join(f.dir, "log", name), envelope.MaxEntry)
		if errors.Is(err, envelope.ErrForm) {
			if err := odd(name, err); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, err
}

func (f *Folder) putEntry(e *envelope.Entry) error {
	hash := e.Hash()
	return writeOnce(filepath.Join(f.dir, "log", fmt.Sprintf("%08d-%s.entry", e.N, hex.EncodeToString(hash[:8]))), e.Bytes())
}

// chains returns the sequence numbers of each chain, ascending.
func (f *Folder) chains(most int) (map[chain][]uint64, error) {
	dirs, err := names(filepath.Join(f.dir, "deltas"))
	if err != nil {
		return nil, err
	}
	out := map[chain][]uint64{}
	for _, dir := range dirs {
		c, ok := parseChain(dir)
		if !ok {
			continue
		}
		if len(out) == most {
			return nil, fmt.Errorf("folder %s: %w: over %d chains", f.dir, envelope.ErrForm, most)
		}
		files, err := names(filepath.Join(f.dir, "deltas", dir))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			seq, err := strconv.ParseUint(strings.TrimSuffix(name, ".delta"), 10, 64)
			if err == nil && seq > 0 && name == deltaName(seq) {
				out[c] = append(out[c], seq)
			}
		}
		slices.Sort(out[c])
	}
	return out, nil
}

// delta returns one delta, or fs.ErrNotExist.
func (f *Folder) delta(c chain, seq uint64) (*envelope.Delta, error) {
	b, err := readFile(f.deltaPath(c, seq), envelope.MaxDelta)
	if err != nil {
		return nil, err
	}
	d, err := envelope.ParseDelta(b)
	if err != nil {
		return nil, err
	}
	if chainOf(&d.Header) != c || d.Header.Seq != seq {
		return nil, fmt.Errorf("delta %s/%d: %w: the file holds another", c, seq, envelope.ErrForm)
	}
	return d, nil
}

// put writes a delta and replaces the file that was there.
func (f *Folder) put(d *envelope.Delta) error {
	return write(f.deltaPath(chainOf(&d.Header), d.Header.Seq), d.Bytes())
}

// blobs lists the blobs.
func (f *Folder) blobs() ([]envelope.Hash, error) {
	names, err := names(filepath.Join(f.dir, "blobs"))
	var out []envelope.Hash
	for _, name := range names {
		var id envelope.Hash
		if id.UnmarshalText([]byte(strings.TrimSuffix(name, ".blob"))) == nil && name == id.String()+".blob" {
			out = append(out, id)
		}
	}
	return out, err
}

// bySize sorts blobs, the smallest first. A blob that is deleted meanwhile may
// get any place.
func (f *Folder) bySize(ids []envelope.Hash) {
	size := map[envelope.Hash]int64{}
	for _, id := range ids {
		size[id] = f.sizeOf(id)
	}
	sorting.Stable(ids, func(a, b envelope.Hash) int { return cmp.Compare(size[a], size[b]) })
}

// sizeOf returns the size of a blob in bytes, or 0 if there is none.
func (f *Folder) sizeOf(id envelope.Hash) int64 {
	info, err := os.Lstat(f.blobPath(id))
	if err != nil {
		return 0
	}
	return info.Size()
}

// openBlob opens a blob without checking its bytes. It returns fs.ErrNotExist if
// there is none.
func (f *Folder) openBlob(id envelope.Hash) (*os.File, error) { return os.Open(f.blobPath(id)) }

// putBlob copies a blob of at most limit bytes. It returns [replica.ErrBlob] if
// the bytes do not have the hash id.
func (f *Folder) putBlob(id envelope.Hash, from io.Reader, limit int64) error {
	path := f.blobPath(id)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return writeTo(path, func(w io.Writer) error {
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(from, min(limit, maxBlob)+1))
		if err != nil {
			return err
		}
		if n > limit || envelope.Hash(sum.Sum(nil)) != id {
			return fmt.Errorf("blob %s: %w", id, replica.ErrBlob)
		}
		return nil
	})
}

// sweep removes what a kill left of blobs that were being written. No other process may be
// writing to the folder.
func (f *Folder) sweep() error {
	for _, dir := range []string{f.dir, filepath.Join(f.dir, "blobs")} {
		list, err := names(dir)
		if err != nil {
			return err
		}
		for _, name := range list {
			if strings.HasPrefix(name, ".") && strings.Contains(name, ".tmp") {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// names returns the names in a folder, sorted. A missing folder has none.
func names(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if len(list) > maxFiles {
		return nil, fmt.Errorf("folder %s: %w: over %d files", dir, envelope.ErrForm, maxFiles)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out, err
}

// readFile reads a plain file of at most limit bytes. It refuses links, pipes and
// devices.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s: %w: want a file of at most %d bytes", path, envelope.ErrForm, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: %w: it grew while it was read", path, envelope.ErrForm)
	}
	return b, err
}

func writeOnce(path string, b []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return write(path, b)
}

func write(path string, b []byte) error {
	return writeTo(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// writeTo writes a whole file and syncs it. On error it leaves no file.
func writeTo(path string, fill func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.MkdirAll(dir); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = errors.Join(fill(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}
