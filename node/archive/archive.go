// Package archive defines the format of a node's exports.
//
// The words:
//
//   - An archive is a sequence of [Record]s: a header, what was said
//     (utterances), what was claimed (assertions), the blobs that memories
//     name, an end with their count, and a signature.
//   - The digest of an archive covers the set of its records, independent of their order, so
//     that the same archive may be in one file of JSON lines or spread over
//     a folder.
//   - A notebook is an archive as a folder of Markdown files: what a person reads is
//     rendered from the records, which are in comments beside it.
//
// FORMAT of the digest: SHA-256 of "locket/v1 archive", 0x00, and the hashes of all records
// except end and signature, in ascending order. The hash of a record is the SHA-256 of its kind,
// 0x00, and its data as compact JSON. It is signed by the device's Ed25519 key (see
// keyring.Verify) in the domain [Domain].
package archive

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Version is the version of the records. An archive of another version is refused.
const Version = 1

// Domain is the domain in which archives are signed.
const Domain = "export archive"

// Errors that callers can tell apart; all wrap [memory.ErrInvalid].
var (
	// ErrCut: the end is missing, or names more records than there are.
	ErrCut = fmt.Errorf("%w: the archive is cut off", memory.ErrInvalid)
	// ErrForged: the archive has a signature, but not for these records.
	ErrForged = fmt.Errorf("%w: the archive is not what was signed", memory.ErrInvalid)
)

// Kinds of records, in the order of an archive.
const (
	KindHeader    = "header"    // first, once: Header
	KindUtterance = "utterance" // a memory.Utterance
	KindAssertion = "assertion" // an Assertion
	KindBlob      = "blob"      // a Part
	KindEnd       = "end"       // once: End
	KindSignature = "signature" // last, at most once: Signature
)

// Record is one line of an archive.
type Record struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// Header says where and when an archive was made.
type Header struct {
	Version int            `json:"version"`
	Space   memory.SpaceID `json:"space"`
	At      time.Time      `json:"at"`
	Wearer  string         `json:"wearer,omitempty"`
	Zone    string         `json:"zone,omitempty"` // IANA name
	Secrets bool           `json:"secrets,omitempty"`
}

// Assertion is an assertion. If the archive includes secrets, it also has the secret that is
// sealed in it, unless the node that made the archive could not open that.
type Assertion struct {
	memory.Assertion
	Secret string `json:"secret,omitempty"`
}

// Vault returns the sealed secret in its candidate or patch; nil: it has none.
func (a *Assertion) Vault() *memory.VaultFields {
	var f *memory.VaultFields
	switch {
	case a.Candidate != nil:
		f = a.Candidate.Fields.Vault
	case a.Patch != nil && a.Patch.Fields != nil:
		f = a.Patch.Fields.Vault
	}
	if f == nil || len(f.Sealed) == 0 {
		return nil
	}
	return f
}

// PartSize is how many bytes of a blob one record holds.
const PartSize = 512 << 10

// Part is a piece of a blob. The pieces of one blob are consecutive.
type Part struct {
	Name  memory.ID `json:"name"`
	Owner memory.ID `json:"owner"` // the memory with which the blob is erased
	Part  int       `json:"part"`  // from 0
	Last  bool      `json:"last,omitempty"`
	Data  []byte    `json:"data"`
}

// End counts the records between the header and itself.
type End struct {
	Records int `json:"records"`
}

// Signature says who signed the archive.
type Signature struct {
	Key    ed25519.PublicKey `json:"key"`    // of the device
	Digest []byte            `json:"digest"` // 32 bytes
	Sig    []byte            `json:"sig"`
}

// Words returns five words that stand for a key, so that people can compare keys.
func Words(key ed25519.PublicKey) string {
	h := sha256.Sum256(key)
	return strings.Join(keyring.Words(h[:], 5), " ")
}

// Make wraps the records of a body into an archive. Sign may be nil: then the
// archive has no signature. The sequence ends at the first error.
func Make(h Header, body iter.Seq2[Record, error], sign func(digest []byte) (Signature, error)) iter.Seq2[Record, error] {
	h.Version = Version
	return func(yield func(Record, error) bool) {
		var d digest
		count := 0
		emit := func(kind string, v any) bool {
			b, err := json.Marshal(v)
			if err != nil {
				yield(Record{}, fmt.Errorf("archive: %s: %w", kind, err))
				return false
			}
			r := Record{kind, b}
			if kind == KindHeader {
				d.add(r)
			}
			return yield(r, nil)
		}
		if !emit(KindHeader, h) {
			return
		}
		for r, err := range body {
			if err != nil {
				yield(Record{}, err)
				return
			}
			count++
			d.add(r)
			if !yield(r, nil) {
				return
			}
		}
		if !emit(KindEnd, End{count}) || sign == nil {
			return
		}
		s, err := sign(d.sum())
		if err != nil {
			yield(Record{}, fmt.Errorf("archive: signing: %w", err))
			return
		}
		emit(KindSignature, s)
	}
}

// digest collects the hashes of a set of records.
type digest struct{ sums [][sha256.Size]byte }

func (d *digest) add(r Record) {
	var b bytes.Buffer
	b.WriteString(r.Kind)
	b.WriteByte(0)
	if json.Compact(&b, r.Data) != nil {
		b.Write(r.Data) // no signer has written such data
	}
	d.sums = append(d.sums, sha256.Sum256(b.Bytes()))
}

func (d *digest) sum() []byte {
	sorting.Sort(d.sums, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	h.Write([]byte("locket/v1 archive\x00"))
	for _, s := range d.sums {
		h.Write(s[:])
	}
	return h.Sum(nil)
}

// Summary is what is known about a complete archive.
type Summary struct {
	Header  Header
	Records int
	Key     ed25519.PublicKey // of the signer; nil: there is no signature
}

// Check reads an archive and checks that it is complete and as it was signed. Errors: ErrCut,
// ErrForged, or another error that names the record. If tap is set, it is called with each record
// as it is read. The record must not be trusted until Check has returned.
func Check(records iter.Seq2[Record, error], tap func(Record) error) (s Summary, err error) {
	var d digest
	began, ended, signed, n := false, false, false, 0
	for r, err := range records {
		if err != nil {
			return s, err
		}
		n++
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%w: record %d: %s", memory.ErrInvalid, n, fmt.Sprintf(format, args...))
		}
		switch {
		case signed:
			return s, wrong("something follows the signature")
		case ended && r.Kind != KindSignature:
			return s, wrong("%q follows the end", r.Kind)
		case !began && r.Kind != KindHeader:
			return s, wrong("%q before the header", r.Kind)
		case began && r.Kind == KindHeader:
			return s, wrong("a second header")
		}
		switch r.Kind {
		case KindHeader:
			if json.Unmarshal(r.Data, &s.Header) != nil || s.Header.Version != Version {
				return s, wrong("an archive of version %d; this reads %d", s.Header.Version, Version)
			}
			began = true
			d.add(r)
		case KindEnd:
			var e End
			if err := json.Unmarshal(r.Data, &e); err != nil {
				return s, wrong("%v", err)
			}
			if e.Records != s.Records {
				return s, fmt.Errorf("%w: it names %d records, %d came", ErrCut, e.Records, s.Records)
			}
			ended = true
		case KindSignature:
			if !ended {
				return s, wrong("a signature before the end")
			}
			var sig Signature
			if json.Unmarshal(r.Data, &sig) != nil || !bytes.Equal(sig.Digest, d.sum()) || !keyring.Verify(sig.Key, Domain, sig.Digest, sig.Sig) {
				return s, ErrForged
			}
			signed, s.Key = true, sig.Key
		default:
			s.Records++
			d.add(r)
		}
		if tap != nil {
			if err := tap(r); err != nil {
				return s, err
			}
		}
	}
	if n == 0 {
		return s, fmt.Errorf("%w: the archive is empty", memory.ErrInvalid)
	}
	if !ended {
		return s, fmt.Errorf("%w: its end is missing", ErrCut)
	}
	return s, nil
}
