// Package backup keeps the newest export of a home in a folder, in sealed pieces,
// so that the next one writes only what is new. What was forgotten meanwhile leaves
// the folder with it: a folder holds one export, and no older ones.
//
// FORMAT of a folder, version 1
//
//	key.age       an age file for a passphrase: 32 bytes, the folder's key
//	index         "LKBI", u8 version 1, 16 random bytes, and a stream (package seal)
//	              under the key "index " with these bytes in hexadecimal: an Index as JSON
//	pieces/XX/ID  a stream under the key "piece " ID: a zstd frame of lines, each an
//	              archive.Record as JSON. ID is the HMAC-SHA256 of the frame under the key
//	              "names", 64 hexadecimal digits, and XX its first two
//	lock          of who writes
//
// Whoever has the folder sees how many pieces there are, their sizes and their
// times, and which come and go.
package backup

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/node/archive"
)

var (
	// ErrNone: there is no backup in the folder.
	ErrNone = errors.New("there is no backup here")
	// ErrOther: the folder has something else in it.
	ErrOther = errors.New("the folder has other things in it, and no backup")
	// ErrDamaged: a file of the backup is missing, or is not what was written.
	ErrDamaged = errors.New("the backup is damaged")
)

const (
	magic    = "LKBI\x01"
	saltSize = 16

	// A piece ends after a line that says so by its hash, so that a line more or
	// less changes one piece and not all that follow.
	leastPiece = 8 << 10
	mostPiece  = 256 << 10
	cutEach    = 64 // lines

	maxPiece = 64 << 20 // bytes, opened: more than any record has
	maxIndex = 64 << 20
)

// Index says what the newest export is made of.
type Index struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Records int       `json:"records"` // between header and end
	Pieces  []string  `json:"pieces"`  // ids, in order
}

// Folder is a folder of backups that is open. Its methods are for one caller at a time.
type Folder struct {
	dir  string
	key  *seal.Key
	lock *filelock.Lock
}

// Open opens the backup in dir by its passphrase: ErrNone where there is none,
// an error of filelock where somebody else has it open, and seal.ErrFile where
// the passphrase is another.
func Open(dir, passphrase string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(dir, "key.age")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNone, dir)
	}
	f := &Folder{dir: dir}
	var err error
	if f.lock, err = filelock.Take(filepath.Join(dir, "lock")); err != nil {
		return nil, err
	}
	if f.key, err = readKey(filepath.Join(dir, "key.age"), passphrase); err != nil {
		return nil, errors.Join(err, f.lock.Release())
	}
	return f, nil
}

// Make makes a folder for a backup, which must be empty or not there: ErrOther.
func Make(dir, passphrase string) (*Folder, error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrOther, dir)
	}
	key := seal.NewKey()
	err = atomicfile.Stream(filepath.Join(dir, "key.age"), func(w io.Writer) error {
		sealed, err := seal.SealFile(w, nil, passphrase)
		if err != nil {
			return err
		}
		b := key.Bytes()
		defer clear(b)
		if _, err := sealed.Write(b); err != nil {
			return err
		}
		return sealed.Close()
	})
	key.Zero()
	if err != nil {
		return nil, err
	}
	return Open(dir, passphrase)
}

func readKey(path, passphrase string) (*seal.Key, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, size, err := seal.OpenFile(bytes.NewReader(b), int64(len(b)), "", passphrase)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	return seal.KeyFromBytes(raw)
}

// Close ends the use of the folder.
func (f *Folder) Close() error {
	f.key.Zero()
	return f.lock.Release()
}

// Written says what a backup did.
type Written struct {
	Records int   `json:"records"`
	Pieces  int   `json:"pieces"`
	New     int   `json:"new_pieces"`
	Bytes   int64 `json:"new_bytes"`
	Gone    int   `json:"removed_pieces"`
}

// Write takes an export, which must be whole. Until it was read to its end the
// folder holds the one before; where it is cut off, too.
func (f *Folder) Write(ctx context.Context, records iter.Seq2[archive.Record, error]) (w Written, err error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return w, err
	}
	defer enc.Close()
	ix := Index{Version: 1, At: time.Now().UTC()}
	var lines bytes.Buffer
	cut := func() error {
		if lines.Len() == 0 {
			return nil
		}
		id, size, err := f.put(enc.EncodeAll(lines.Bytes(), nil))
		if err != nil {
			return err
		}
		if size > 0 {
			w.New++
			w.Bytes += size
		}
		ix.Pieces = append(ix.Pieces, id)
		lines.Reset()
		return nil
	}
	sum, err := archive.Check(records, func(r archive.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if r.Kind == archive.KindEnd { // other in each export, as the header is
			if err := cut(); err != nil {
				return err
			}
		}
		lines.Write(line)
		lines.WriteByte('\n')
		h := fnv.New32a()
		_, _ = h.Write(line) // a hash takes everything
		if n := lines.Len(); r.Kind == archive.KindHeader || n >= mostPiece || n >= leastPiece && h.Sum32()%cutEach == 0 {
			return cut()
		}
		return nil
	})
	if err == nil {
		err = cut()
	}
	if err == nil {
		ix.Records = sum.Records
		err = f.writeIndex(&ix)
	}
	if err != nil {
		return w, err
	}
	w.Records, w.Pieces = ix.Records, len(ix.Pieces)
	w.Gone, err = f.sweep(&ix)
	return w, err
}

func (f *Folder) place(id string) string { return filepath.Join(f.dir, "pieces", id[:2], id) }

// put writes a piece where it is not there; size 0: it was.
func (f *Folder) put(frame []byte) (id string, size int64, err error) {
	names := f.key.Derive("names")
	defer names.Zero()
	b := names.Bytes()
	defer clear(b)
	mac := hmac.New(sha256.New, b)
	_, _ = mac.Write(frame) // a hash takes everything
	id = hex.EncodeToString(mac.Sum(nil))
	key := f.key.Derive("piece " + id)
	defer key.Zero()
	sealed, err := io.ReadAll(seal.SealStream(key, bytes.NewReader(frame)))
	if err != nil {
		return "", 0, err
	}
	// One that a full disk cut off has another size.
	if st, err := os.Stat(f.place(id)); err == nil && st.Size() == int64(len(sealed)) {
		return id, 0, nil
	}
	if err := atomicfile.MkdirAll(filepath.Dir(f.place(id))); err != nil {
		return "", 0, err
	}
	return id, int64(len(sealed)), atomicfile.Write(f.place(id), sealed)
}

func (f *Folder) writeIndex(ix *Index) error {
	plain, err := json.Marshal(ix)
	if err != nil {
		return err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails, from Go 1.24 on
	key := f.key.Derive("index " + hex.EncodeToString(salt))
	defer key.Zero()
	return atomicfile.Stream(filepath.Join(f.dir, "index"), func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(bytes.NewReader([]byte(magic)), bytes.NewReader(salt), seal.SealStream(key, bytes.NewReader(plain))))
		return err
	})
}

var isID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sweep removes what the index does not name: it was forgotten, or an export was
// cut off.
func (f *Folder) sweep(ix *Index) (gone int, err error) {
	named := map[string]bool{}
	for _, id := range ix.Pieces {
		named[id] = true
	}
	top := filepath.Join(f.dir, "pieces")
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || named[d.Name()] {
			return err
		}
		gone++
		return os.Remove(path)
	})
	return gone, err
}

// Index reads what the newest export is made of: ErrNone, ErrDamaged.
func (f *Folder) Index() (ix Index, err error) {
	b, err := os.ReadFile(filepath.Join(f.dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return ix, fmt.Errorf("%w: the first one did not come to its end", ErrNone)
	}
	if err != nil {
		return ix, err
	}
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) < saltSize || len(rest) > maxIndex {
		return ix, fmt.Errorf("%w: index: it begins with something else", ErrDamaged)
	}
	key := f.key.Derive("index " + hex.EncodeToString(rest[:saltSize]))
	defer key.Zero()
	plain, err := io.ReadAll(seal.OpenStream(key, bytes.NewReader(rest[saltSize:])))
	if err == nil {
		err = json.Unmarshal(plain, &ix)
	}
	if err != nil {
		return ix, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	for _, id := range ix.Pieces {
		if !isID.MatchString(id) {
			return ix, fmt.Errorf("%w: index: %q is no piece", ErrDamaged, id)
		}
	}
	return ix, nil
}

// Records gives the newest export. An error wraps ErrDamaged where a file is, and
// names it. What came before it is right, and is not yet known to be whole:
// archive.Check says that.
func (f *Folder) Records() iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		ix, err := f.Index()
		if err != nil {
			yield(archive.Record{}, err)
			return
		}
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPiece))
		if err != nil {
			yield(archive.Record{}, err)
			return
		}
		defer dec.Close()
		for _, id := range ix.Pieces {
			records, err := f.piece(dec, id)
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(archive.Record{}, fmt.Errorf("%w: pieces/%s/%s: %w", ErrDamaged, id[:2], id, err))
				return
			}
		}
	}
}

func (f *Folder) piece(dec *zstd.Decoder, id string) (records []archive.Record, err error) {
	file, err := os.Open(f.place(id))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	key := f.key.Derive("piece " + id)
	defer key.Zero()
	frame, err := io.ReadAll(io.LimitReader(seal.OpenStream(key, file), maxPiece))
	if err != nil {
		return nil, err
	}
	lines, err := dec.DecodeAll(frame, nil)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(lines)); d.More(); {
		var r archive.Record
		if err := d.Decode(&r); err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}
