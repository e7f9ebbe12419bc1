// Package backup keeps the newest export of a home in a folder or a bucket, in sealed pieces, so
// that the next backup writes only what is new. What was forgotten meanwhile is removed from the
// folder at the same time: a folder contains one export, and no older ones.
//
// FORMAT of a folder, version 1
//
//	key.age       an age file for a passphrase: 32 bytes, the folder's key
//	index         "LKBI", u8 version 1, 16 random bytes, and a stream (package seal)
//	              under the key "index " with these bytes in hexadecimal: an Index as JSON
//	index.copy    the same bytes as index, which are read if index is damaged or missing; folders
//	              of version 0.1.0 have none
//	pieces/XX/ID  a stream under the key "piece " ID: a zstd frame of lines, each an
//	              archive.Record as JSON. ID is the HMAC-SHA256 of the frame under the key
//	              "names", 64 hexadecimal digits, and XX its first two
//	lock          of who writes; in a folder alone
//	damaged       names of pieces that a check found damaged, one a line; until the next
//	              export is written
//
// A bucket has the same files as objects below a prefix. Anybody who has the folder can see how
// many pieces there are, their sizes and times, and which are added and removed.
package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"regexp"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
)

var (
	// ErrNone: there is no backup in the folder.
	ErrNone = errors.New("there is no backup here")
	// ErrOther: the folder contains something else.
	ErrOther = errors.New("the folder has other things in it, and no backup")
	// ErrDamaged: a file of the backup is missing, or was changed.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrMeanwhile: somebody else wrote the backup while it was being written.
	ErrMeanwhile = errors.New("somebody else wrote this backup in the meantime")
)

const (
	magic    = "LKBI\x01"
	saltSize = 16

	maxPiece = 64 << 20 // bytes, opened; no record is larger
	maxIndex = 64 << 20
)

// Index says which pieces make up the newest export.
type Index struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Records int       `json:"records"` // between header and end
	Pieces  []string  `json:"pieces"`  // ids, in order

	Space   memory.SpaceID `json:"space,omitzero"`    // of the home; zero if an older version wrote the index
	Secrets bool           `json:"secrets,omitempty"` // it includes the values of the vault
}

// Folder is an open backup, in a folder or a bucket. Only one caller at a time may use its methods.
type Folder struct {
	at      Place
	key     *seal.Key
	release func() error
}

// HasBackup reports whether there is a backup at a place.
func HasBackup(ctx context.Context, at Place) (bool, error) {
	_, err := at.Read(ctx, keyName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Open opens the backup at a place with its passphrase. Errors: ErrNone if there is none, an error
// of filelock if somebody else has it open, and seal.ErrFile if the passphrase is wrong.
func Open(ctx context.Context, at Place, passphrase string) (*Folder, error) {
	sealed, err := at.Read(ctx, keyName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNone, at)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{at: at}
	if f.release, err = at.Lock(); err != nil {
		return nil, err
	}
	if f.key, err = readKey(sealed, passphrase); err != nil {
		return nil, errors.Join(err, f.release())
	}
	return f, nil
}

// Make begins a backup at a place, which must be empty or missing; otherwise the error is ErrOther.
func Make(ctx context.Context, at Place, passphrase string) (*Folder, error) {
	all, err := at.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrOther, at)
	}
	key := seal.NewKey()
	defer key.Zero()
	var file bytes.Buffer
	sealed, err := seal.SealFile(&file, nil, passphrase)
	if err != nil {
		return nil, err
	}
	b := key.Bytes()
	defer clear(b)
	if _, err := sealed.Write(b); err != nil {
		return nil, err
	}
	if err := sealed.Close(); err != nil {
		return nil, err
	}
	if err := at.Write(ctx, keyName, file.Bytes()); err != nil {
		return nil, err
	}
	return Open(ctx, at, passphrase)
}

func readKey(sealed []byte, passphrase string) (*seal.Key, error) {
	r, size, err := seal.OpenFile(bytes.NewReader(sealed), int64(len(sealed)), "", passphrase)
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
	return f.release()
}

// Written says what a backup did. The first piece and the last one, which contain the export's date
// and count, change each time: they are not counted as new or removed.
type Written struct {
	Records int   `json:"records"`
	Pieces  int   `json:"pieces"` // all of them
	New     int   `json:"new_pieces"`
	Bytes   int64 `json:"new_bytes"`
	Gone    int   `json:"removed_pieces"`
}

// Write takes an export, which must be complete. Nothing is written until it was read to its end,
// and the folder keeps the previous export until everything is written. With the errors
// ErrOtherHome, ErrNothing and ErrVault the previous one stays permanently.
func (f *Folder) Write(ctx context.Context, records iter.Seq2[archive.Record, error], opt WriteOptions) (w Written, err error) {
	was, err := f.before(ctx)
	if err != nil {
		return w, err
	}
	there, err := f.list(ctx)
	if err != nil {
		return w, err
	}
	sp, err := newSpool(opt.Spool)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, sp.close()) }()
	c := cutter{f: f, there: there, spool: sp, ix: Index{Version: 1, At: time.Now().UTC()}}
	if c.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return w, err
	}
	defer c.enc.Close()
	sum, err := archive.Check(records, func(r archive.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Kind == archive.KindHeader {
			var h archive.Header
			if err := json.Unmarshal(r.Data, &h); err != nil {
				return err
			}
			if err := was.begins(&h, &opt); err != nil {
				return err
			}
			c.ix.Space, c.ix.Secrets = h.Space, h.Secrets
		}
		return c.add(&r)
	})
	if err == nil {
		err = c.cut(false)
	}
	if err == nil {
		err = was.ends(sum.Records, c.same, countPieces(there), &opt)
	}
	if err == nil {
		err = sp.send(ctx, f.at)
	}
	if err == nil {
		c.ix.Records = sum.Records
		err = f.writeIndex(ctx, &c.ix)
	}
	if err != nil {
		return w, err
	}
	w = Written{Records: c.ix.Records, Pieces: len(c.ix.Pieces), New: c.fresh, Bytes: c.bytes}
	w.Gone, err = f.sweep(ctx, &c.ix, was.pieces, there)
	if _, noted := there[damagedName]; noted && err == nil {
		err = f.at.Remove(ctx, damagedName)
	}
	return w, err
}

const (
	keyName     = "key.age"
	indexName   = "index"
	copyName    = "index.copy"
	damagedName = "damaged"
	pieces      = "pieces/"
)

func (f *Folder) writeIndex(ctx context.Context, ix *Index) error {
	plain, err := json.Marshal(ix)
	if err != nil {
		return err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails, from Go 1.24 on
	key := f.key.Derive("index " + hex.EncodeToString(salt))
	defer key.Zero()
	sealed, err := io.ReadAll(seal.SealStream(key, bytes.NewReader(plain)))
	if err != nil {
		return err
	}
	b := slices.Concat([]byte(magic), salt, sealed)
	if err := f.at.Write(ctx, indexName, b); err != nil {
		return err
	}
	return f.at.Write(ctx, copyName, b)
}

var isID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sweep removes the pieces that the index does not name: they were forgotten, or belong to an
// interrupted export. gone is how many these were, without the first and the last one of the
// previous export.
func (f *Folder) sweep(ctx context.Context, ix *Index, before []string, there map[string]int64) (gone int, err error) {
	named := map[string]bool{}
	for _, id := range ix.Pieces {
		named[place(id)] = true
	}
	for name := range there {
		if named[name] || !isPiece(name) {
			continue
		}
		if err := f.at.Remove(ctx, name); err != nil {
			return gone, err
		}
		if n := len(before); n == 0 || name != place(before[0]) && name != place(before[n-1]) {
			gone++
		}
	}
	return gone, nil
}
