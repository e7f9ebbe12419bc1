// Package archive stores an entire relay in one stream: every account, space, log, delta and blob
// at one moment, from any kind of store, for any kind of store.
//
// FORMAT, version 1. All numbers are big-endian.
//
//	"locket relay 1\n"
//	records, each: u32 n, kind u8, n-1 bytes of CBOR (RFC 8949, deterministic)
//
//	kind  CBOR array                                 comes
//	'i'   hash, used                                 first, for each invitation
//	'a'   account id, spaces                         for each account
//	's'   space, account, entries, cursor            for each of its spaces
//	'e'   wire form of a log entry                   for each entry, in order
//	'd'   wire form of a delta                       for each, by cursor from 1
//	'r'  id, about, bytes              for each checkpoint and vote
//	'b'  id, author, size              for each finished blob
//	'c'  bytes                   for its content, at most 1 MiB each
//	'x'  id                     after a blob that ended early: it is invalid
//	'z'   records before this, SHA-256 of all bytes  last
//	      before this record
//
// Restore trusts nothing: entries and deltas are checked as a relay checks them, signatures
// included, blobs by their hashes, the whole by its last record. Checkpoints and votes are restored
// as they are, because members verify them. What an account alone can bring about does not end a
// restore: deltas that a removal left out are restored, and checkpoints and votes beyond
// [relay.MaxRecords] of a space are not. Usage is not taken from the archive; the store counts
// again. An interrupted restore can be repeated.
package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

const magic = "locket relay 1\n"

// maxRecord is the size of the largest record, in bytes: an account with 60,000
// spaces, or a delta with its head.
const maxRecord = 2 << 20

// ErrForm: the bytes are not an archive, or the archive is incomplete.
var ErrForm = errors.New("archive is malformed")

const (
	kindInvite  = 'i'
	kindAccount = 'a'
	kindSpace   = 's'
	kindEntry   = 'e'
	kindDelta   = 'd'
	kindRecord  = 'r'
	kindBlob    = 'b'
	kindChunk   = 'c'
	kindVoid    = 'x'
	kindEnd     = 'z'
)

type invite struct {
	_    struct{} `cbor:",toarray"`
	Hash [32]byte
	Used bool
}

type account struct {
	_      struct{} `cbor:",toarray"`
	ID     relay.AccountID
	Spaces uint64
}

type space struct {
	_       struct{} `cbor:",toarray"`
	ID      memory.SpaceID
	Account relay.AccountID
	Entries uint64
	Cursor  uint64
}

type record struct {
	_     struct{} `cbor:",toarray"`
	ID    envelope.Hash
	About envelope.Hash
	Bytes []byte
}

type blob struct {
	_      struct{} `cbor:",toarray"`
	ID     relay.BlobID
	Author memory.MemberID
	Size   int64
}

type end struct {
	_       struct{} `cbor:",toarray"`
	Records uint64
	Sum     [32]byte
}

var encoder = func() cbor.EncMode {
	m, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}()

var decoder = func() cbor.DecMode {
	m, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, MaxArrayElements: 64,
		MaxNestedLevels: 4, ExtraReturnErrors: cbor.ExtraDecErrorUnknownField}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}()

type writer struct {
	w       io.Writer
	sum     hash.Hash
	records uint64
}

func newWriter(w io.Writer) (*writer, error) {
	sum := sha256.New()
	out := &writer{w: io.MultiWriter(w, sum), sum: sum}
	_, err := io.WriteString(out.w, magic)
	return out, err
}

func (w *writer) put(kind byte, v any) error {
	body, err := encoder.Marshal(v)
	if err != nil {
		return err
	}
	if len(body)+1 > maxRecord {
		return fmt.Errorf("%w: a record of %d bytes", ErrForm, len(body))
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)+1))
	if _, err := w.w.Write(append(head, kind)); err != nil {
		return err
	}
	w.records++
	_, err = w.w.Write(body)
	return err
}

func (w *writer) end() error {
	return w.put(kindEnd, end{Records: w.records, Sum: [32]byte(w.sum.Sum(nil))})
}

type reader struct {
	r       io.Reader
	sum     hash.Hash
	records uint64
	kind    byte
	body    []byte
}

func newReader(r io.Reader) (*reader, error) {
	in := &reader{r: r, sum: sha256.New()}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("%w: it does not begin like an archive of version 1", ErrForm)
	}
	in.sum.Write(head)
	return in, nil
}

// next reads a record. After the last record it returns io.EOF if the archive's
// count and hash are right.
func (r *reader) next() error {
	var head [5]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return fmt.Errorf("record %d: %w: it ends before its last record", r.records, ErrForm)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxRecord {
		return fmt.Errorf("record %d: %w: %d bytes", r.records, ErrForm, n)
	}
	r.kind, r.body = head[4], make([]byte, n-1)
	if _, err := io.ReadFull(r.r, r.body); err != nil {
		return fmt.Errorf("record %d: %w: it ends within", r.records, ErrForm)
	}
	if r.kind == kindEnd {
		var e end
		if err := r.decode(&e); err != nil {
			return err
		}
		if e.Records != r.records || e.Sum != [32]byte(r.sum.Sum(nil)) {
			return fmt.Errorf("%w: it was changed: its checksum differs", ErrForm)
		}
		if n, _ := r.r.Read(make([]byte, 1)); n > 0 {
			return fmt.Errorf("%w: something comes after its end", ErrForm)
		}
		return io.EOF
	}
	r.sum.Write(head[:])
	r.sum.Write(r.body)
	r.records++
	return nil
}

func (r *reader) decode(v any) error {
	if err := decoder.Unmarshal(r.body, v); err != nil {
		return fmt.Errorf("record %d: %w: %v", r.records, ErrForm, err)
	}
	return nil
}
