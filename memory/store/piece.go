package store

import (
	"fmt"
	"math/rand/v2"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// PackPiece is the position of one entry in a pack. With it, a caller can check
// whether a remote store has the pack without downloading all of it.
type PackPiece struct {
	From, Bytes int64 // offset and length within the pack, in whole blocks, so that nobody sees where an entry ends

	unit coldUnit
}

// pieceBlock is the length of such a block, in bytes.
const pieceBlock = 4096

// PackPiece returns a random entry of a pack. It returns [memory.ErrNotFound]
// if there is no such pack, or if nothing needs it any more.
func (t *Tx) PackPiece(pack uint64) (p PackPiece, err error) {
	page, ok, err := t.coldPage(pack)
	if err == nil && (!ok || len(page.Units) == 0) {
		err = fmt.Errorf("store: pack %d: %w", pack, memory.ErrNotFound)
	}
	if err != nil {
		return p, err
	}
	p.unit = page.Units[rand.IntN(len(page.Units))]
	p.From = int64(p.unit.Off) / pieceBlock * pieceBlock
	end := int64(p.unit.Off) + int64(p.unit.Len)
	p.Bytes = min((end+pieceBlock-1)/pieceBlock*pieceBlock, page.Size) - p.From
	return p, nil
}

// Opens reports whether b has the pack's true bytes at this position.
func (p *PackPiece) Opens(b []byte) bool {
	from := int64(p.unit.Off) - p.From
	if int64(len(b)) != p.Bytes || from < 0 || from+int64(p.unit.Len) > p.Bytes {
		return false
	}
	k, err := seal.KeyFromBytes(p.unit.Key)
	if err != nil {
		return false
	}
	defer k.Zero()
	_, err = k.Open(nil, b[from:from+int64(p.unit.Len)], p.unit.Group)
	return err == nil
}
