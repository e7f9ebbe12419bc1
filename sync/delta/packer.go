package delta

import (
	"fmt"

	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

// Packer makes the plaintexts of a snapshot's chunks.
type Packer struct {
	Digest
	source Source
	items  []wireItem
	conv   converter
	size   int
	chunks int
}

// NewPacker returns a packer for a snapshot without items.
func NewPacker(s Source) *Packer {
	p := &Packer{Digest: *NewDigest(s.Space), source: s}
	p.begin()
	return p
}

func (p *Packer) begin() {
	p.items, p.size, p.conv = nil, 0, converter{header: &envelope.Header{Space: p.source.Space}}
}

// Put adds the next item. If that completes a chunk, Put returns the chunk's
// plaintext; otherwise chunk is nil.
func (p *Packer) Put(i *Item) (chunk []byte, err error) {
	b, err := p.Add(i)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	p.items = append(p.items, i.toWire(&p.conv))
	if p.size += len(b); p.size < chunkPlain && len(p.items) < chunkItems {
		return nil, nil
	}
	return p.Flush()
}

// Flush returns the plaintext of the last chunk, or nil if no items remain.
func (p *Packer) Flush() ([]byte, error) {
	if len(p.items) == 0 {
		return nil, nil
	}
	p.chunks++
	if p.chunks > MaxChunks {
		return nil, fmt.Errorf("snapshot: %w: over %d chunks", ErrForm, MaxChunks)
	}
	out, err := packed(wireChunk{Context: p.source.context(p.chunks), Items: p.items})
	p.begin()
	return out, err
}

// packed encodes v as CBOR, compressed and padded.
func packed(v any) ([]byte, error) {
	plain, err := canonical.Encoding.Marshal(v)
	if err == nil && len(plain) > MaxPlain {
		err = fmt.Errorf("%d bytes, at most %d", len(plain), MaxPlain)
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w: %v", ErrForm, err)
	}
	return squeezed("snapshot", plain)
}

func unpacked(padded []byte, v any) error {
	if len(padded) > MaxPadded {
		return fmt.Errorf("snapshot: %w: %d bytes, at most %d", ErrForm, len(padded), MaxPadded)
	}
	frame, err := unpad(padded)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	plain, err := decompress(frame)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if err := canonical.Decode(plain, v, decoding, ErrForm); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

// Unpack parses the plaintext of chunk number n, counted from 1. It returns
// [ErrContext] if the plaintext belongs to another chunk or snapshot.
func Unpack(s Source, n int, padded []byte) ([]Item, error) {
	var w wireChunk
	if err := unpacked(padded, &w); err != nil {
		return nil, err
	}
	if w.Context != s.context(n) {
		return nil, fmt.Errorf("snapshot: chunk %d: %w", n, ErrContext)
	}
	if len(w.Items) == 0 {
		return nil, fmt.Errorf("snapshot: chunk %d: %w: no items", n, ErrForm)
	}
	out := make([]Item, len(w.Items))
	conv := converter{header: &envelope.Header{Space: s.Space}}
	for i := range w.Items {
		var err error
		if out[i], err = w.Items[i].item(&conv); err != nil {
			return nil, fmt.Errorf("snapshot: chunk %d, item %d: %w", n, i, err)
		}
	}
	return out, nil
}

// Chunk names a sealed chunk.
type Chunk struct {
	_      struct{} `cbor:",toarray"`
	Sealed envelope.Hash
	Size   uint32 // size of the sealed chunk in bytes
}

// Manifest lists the chunks of a snapshot.
type Manifest struct {
	Context envelope.Hash `cbor:"1,keyasint"`
	Digest  envelope.Hash `cbor:"2,keyasint"`
	Chunks  []Chunk       `cbor:"3,keyasint"`
}

// Pack returns the plaintext of the manifest.
func (m *Manifest) Pack(s Source) ([]byte, error) {
	m.Context = s.context(0)
	return packed(m)
}

// UnpackManifest parses a manifest's plaintext. It returns [ErrContext] if
// the plaintext belongs to another snapshot.
func UnpackManifest(s Source, padded []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := unpacked(padded, m); err != nil {
		return nil, err
	}
	if m.Context != s.context(0) {
		return nil, fmt.Errorf("snapshot: manifest: %w", ErrContext)
	}
	for i, c := range m.Chunks {
		if c.Size == 0 || c.Size > envelope.MaxBody || c.Sealed.IsZero() {
			return nil, fmt.Errorf("snapshot: %w: chunk %d", ErrForm, i+1)
		}
	}
	if len(m.Chunks) > MaxChunks {
		return nil, fmt.Errorf("snapshot: %w: %d chunks", ErrForm, len(m.Chunks))
	}
	return m, nil
}
