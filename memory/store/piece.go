package store

import (
	"fmt"
	"math/rand/v2"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// PackPiece is where one entry of a pack lies: by it a shelf can be asked whether
// it has the pack, without all of it.
type PackPiece struct {
	From, Bytes int64 // within the pack, in whole blocks, by which nobody sees where an entry ends

	pack uint64
	unit coldUnit
}

// pieceBlock is the length of a block that is asked for.
const pieceBlock = 4096

// PackPiece chooses an entry of a pack by chance: [memory.ErrNotFound] where there
// is no such pack, or nothing needs it any more.
func (t *Tx) PackPiece(pack uint64) (p PackPiece, err error) {
	page, ok, err := t.coldPage(pack)
	if err == nil && (!ok || len(page.Units) == 0) {
		err = fmt.Errorf("store: pack %d: %w", pack, memory.ErrNotFound)
	}
	if err != nil {
		return p, err
	}
	p.pack, p.unit = pack, page.Units[rand.IntN(len(page.Units))]
	p.From = int64(p.unit.Off) / pieceBlock * pieceBlock
	end := int64(p.unit.Off) + int64(p.unit.Len)
	p.Bytes = min((end+pieceBlock-1)/pieceBlock*pieceBlock, page.Size) - p.From
	return p, nil
}

// Opens reports whether b, which is to be the pack's bytes at this place, has the
// entry as it was sealed.
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
