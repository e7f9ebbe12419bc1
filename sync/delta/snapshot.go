package delta

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

// Limits of a snapshot. A chunk ends with the item that exceeds one of the first
// limits.
const (
	chunkItems = 2048
	chunkPlain = 512 << 10 // bytes of the items' own encodings

	MaxChunks = 4096 // of one snapshot
	maxErased = 1024 // ids of one item
	maxCited  = 256  // numbers of one item
	MaxDots   = 256  // members of one item
)

// Source says from which state a snapshot was made. Its hash is in each part, so that no
// part fits another snapshot.
type Source struct {
	Space  memory.SpaceID
	Author memory.MemberID
	Cursor uint64
}

// context returns the context of a part: part 0 is the manifest, chunks count
// from 1.
func (s Source) context(part int) envelope.Hash {
	b := append([]byte("locket/v1 snapshot\x00"), s.Space[:]...)
	b = binary.BigEndian.AppendUint64(append(b, s.Author[:]...), s.Cursor)
	return sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(part)))
}

// Item is one thing that a snapshot holds. Exactly one of Op, Erased, Dots and
// Cited is set. Member is the author of Op, if Op is an assertion.
type Item struct {
	Member memory.MemberID
	Op     Op // an assertion, an utterance or a blob
	Erased []memory.ID
	Dots   []memory.Dot // the last dot of each member
	Cited  *Cited
}

// Cited lists the assertions of a worker that cite one piece of evidence, in the
// order in which they came. A grant's limit is counted by it.
type Cited struct {
	_        struct{} `cbor:",toarray"`
	Member   memory.MemberID
	Evidence string
	Seqs     []uint64
}

type wireSaid struct {
	_         struct{} `cbor:",toarray"`
	Member    memory.MemberID
	Assertion *wireAssertion
}

type wireLast struct {
	_      struct{} `cbor:",toarray"`
	Member memory.MemberID
	Seq    uint64
}

type wireItem struct {
	Said      *wireSaid      `cbor:"1,keyasint,omitempty"`
	Utterance *wireUtterance `cbor:"2,keyasint,omitempty"`
	Blob      *wireBlob      `cbor:"3,keyasint,omitempty"`
	Cited     *Cited         `cbor:"4,keyasint,omitempty"`
	Erased    []memory.ID    `cbor:"5,keyasint,omitempty"`
	Dots      []wireLast     `cbor:"6,keyasint,omitempty"`
}

type wireChunk struct {
	_       struct{} `cbor:",toarray"`
	Context envelope.Hash
	Items   []wireItem
}

// kind returns the number of the item's kind. A snapshot is ordered by it. 0
// means an invalid item.
func (i *Item) kind() int {
	for n, set := range []bool{i.Op.Assertion != nil, i.Op.Utterance != nil, i.Op.Blob != nil, i.Cited != nil, len(i.Erased) > 0, len(i.Dots) > 0} {
		if set {
			return n + 1
		}
	}
	return 0
}

// Name names the item, for messages.
func (i *Item) Name() string {
	switch i.kind() {
	case 1:
		return fmt.Sprintf("assertion %s:%d of %s", i.Op.Assertion.Dot.Member, i.Op.Assertion.Dot.Seq, i.Op.Assertion.Memory)
	case 2:
		return "utterance " + i.Op.Utterance.ID.String()
	case 3:
		return "blob " + i.Op.Blob.Name
	case 4:
		return "citations of " + i.Cited.Evidence + " by " + i.Cited.Member.String()
	case 5:
		return "erased " + i.Erased[0].String()
	}
	return "dots"
}

// Compare orders the items of a snapshot: first by kind. Assertions follow by
// memory, member and number; utterances by id; blobs by name; citations by
// member and evidence; erased ids and dots by their first.
func (i *Item) Compare(j *Item) int {
	if c := cmp.Compare(i.kind(), j.kind()); c != 0 {
		return c
	}
	switch i.kind() {
	case 1:
		a, b := i.Op.Assertion, j.Op.Assertion
		return cmp.Or(bytes.Compare(a.Memory[:], b.Memory[:]), a.Dot.Member.Compare(b.Dot.Member), cmp.Compare(a.Dot.Seq, b.Dot.Seq))
	case 2:
		return bytes.Compare(i.Op.Utterance.ID[:], j.Op.Utterance.ID[:])
	case 3:
		return strings.Compare(i.Op.Blob.Name, j.Op.Blob.Name)
	case 4:
		return cmp.Or(i.Cited.Member.Compare(j.Cited.Member), strings.Compare(i.Cited.Evidence, j.Cited.Evidence))
	case 5:
		return bytes.Compare(i.Erased[0][:], j.Erased[0][:])
	case 6:
		return i.Dots[0].Member.Compare(j.Dots[0].Member)
	}
	return 0
}

// IsLive reports whether the item holds content, and not only a trace of something
// erased. Live items make the digest.
func (i *Item) IsLive() bool { return i.kind() <= 4 }

func (i *Item) check(space memory.SpaceID) error {
	switch i.kind() {
	case 0:
		return fmt.Errorf("%w: item: empty", ErrForm)
	case 1:
		if i.Op.Assertion.Act == memory.ActErase {
			return fmt.Errorf("%w: %s: an erased memory has to be given by its id alone", ErrForm, i.Name())
		}
		return i.Op.check(&envelope.Header{Space: space, Member: i.Member})
	case 4:
		if n := len(i.Cited.Seqs); n == 0 || n > maxCited || len(i.Cited.Evidence) > memory.MaxName || i.Cited.Evidence == "" {
			return fmt.Errorf("%w: %s: %d numbers", ErrForm, i.Name(), n)
		}
	case 5:
		if len(i.Erased) > maxErased || !slices.IsSortedFunc(i.Erased, func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) }) {
			return fmt.Errorf("%w: erased: too many, or not ascending", ErrForm)
		}
	case 6:
		if len(i.Dots) > MaxDots || !slices.IsSortedFunc(i.Dots, func(a, b memory.Dot) int { return a.Member.Compare(b.Member) }) {
			return fmt.Errorf("%w: dots: too many, or not ascending", ErrForm)
		}
	default:
		return i.Op.check(&envelope.Header{Space: space, Member: i.Member})
	}
	return nil
}

func (i *Item) toWire(c *converter) wireItem {
	switch i.kind() {
	case 1:
		c.header.Member = i.Member
		return wireItem{Said: &wireSaid{Member: i.Member, Assertion: c.toWire(&i.Op).Assertion}}
	case 2:
		return wireItem{Utterance: c.toWire(&i.Op).Utterance}
	case 3:
		return wireItem{Blob: c.toWire(&i.Op).Blob}
	case 4:
		return wireItem{Cited: i.Cited}
	case 5:
		return wireItem{Erased: i.Erased}
	}
	var w wireItem
	for _, d := range i.Dots {
		w.Dots = append(w.Dots, wireLast{Member: d.Member, Seq: d.Seq})
	}
	return w
}

func (w *wireItem) item(c *converter) (i Item, err error) {
	set := 0
	for _, has := range []bool{w.Said != nil, w.Utterance != nil, w.Blob != nil, w.Cited != nil, w.Erased != nil, w.Dots != nil} {
		if has {
			set++
		}
	}
	if set != 1 {
		return i, fmt.Errorf("%w: an item has to be exactly one thing, not %d", ErrForm, set)
	}
	switch {
	case w.Said != nil:
		if w.Said.Assertion == nil {
			return i, fmt.Errorf("%w: item: no assertion", ErrForm)
		}
		i.Member, c.header.Member = w.Said.Member, w.Said.Member
		i.Op, err = c.fromWire(&wireOp{Assertion: w.Said.Assertion})
	case w.Utterance != nil:
		i.Op, err = c.fromWire(&wireOp{Utterance: w.Utterance})
	case w.Blob != nil:
		i.Op, err = c.fromWire(&wireOp{Blob: w.Blob})
	}
	if err != nil {
		return i, err
	}
	i.Cited, i.Erased = w.Cited, w.Erased
	for _, d := range w.Dots {
		i.Dots = append(i.Dots, memory.Dot{Member: d.Member, Seq: d.Seq})
	}
	return i, i.check(c.header.Space)
}

// Digest computes the digest of a snapshot's live items, in their order: SHA-256
// over each item's own encoding, preceded by its length.
type Digest struct {
	space memory.SpaceID
	sum   hash.Hash
	last  *Item
}

// NewDigest returns the digest of no items.
func NewDigest(space memory.SpaceID) *Digest { return &Digest{space: space, sum: sha256.New()} }

// Add adds the next item and returns the bytes of its own encoding. It returns
// [ErrForm] if the item is invalid, or does not come after the previous one.
func (d *Digest) Add(i *Item) ([]byte, error) {
	if err := i.check(d.space); err != nil {
		return nil, err
	}
	if d.last != nil && d.last.Compare(i) >= 0 {
		return nil, fmt.Errorf("%w: %s has to come before %s", ErrForm, i.Name(), d.last.Name())
	}
	d.last = i
	b, err := i.Bytes(d.space)
	if err != nil || !i.IsLive() {
		return b, err
	}
	d.sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
	d.sum.Write(b)
	return b, nil
}

// Bytes returns the item's own encoding: the bytes that it has as the first item
// of a chunk.
func (i *Item) Bytes(space memory.SpaceID) ([]byte, error) {
	b, err := canonical.Encoding.Marshal(i.toWire(&converter{header: &envelope.Header{Space: space}}))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrForm, i.Name(), err)
	}
	return b, nil
}

// Sum returns the digest of the items so far.
func (d *Digest) Sum() envelope.Hash { return envelope.Hash(d.sum.Sum(nil)) }
