package backup

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
)

const (
	// A piece ends after a line whose hash says so, so that an added or removed line
	// changes only one piece and not all that follow.
	leastPiece = 8 << 10
	mostPiece  = 256 << 10
	cutEach    = 64 // lines
)

// cutter cuts an export into pieces, and spools those that the folder does not have.
type cutter struct {
	f     *Folder
	enc   *zstd.Encoder
	spool *spool
	there map[string]int64 // size of each file of the folder
	lines bytes.Buffer     // of the current piece

	ix    Index
	same  int   // pieces that the folder has
	fresh int   // pieces that it does not have, without the first and the last
	bytes int64 // bytes of these
}

// add adds the next record. The header is a piece by itself, and so is the end, because
// they differ in each export.
func (c *cutter) add(r *archive.Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if r.Kind == archive.KindEnd {
		if err := c.cut(true); err != nil {
			return err
		}
	}
	c.lines.Write(line)
	c.lines.WriteByte('\n')
	h := fnv.New32a()
	_, _ = h.Write(line) // a hash never fails
	if n := c.lines.Len(); r.Kind == archive.KindHeader || n >= mostPiece || n >= leastPiece && h.Sum32()%cutEach == 0 {
		return c.cut(r.Kind != archive.KindHeader)
	}
	return nil
}

// cut ends a piece. content: it is neither the first nor the last one.
func (c *cutter) cut(content bool) error {
	if c.lines.Len() == 0 {
		return nil
	}
	id, sealed, err := c.f.sealed(c.enc.EncodeAll(c.lines.Bytes(), nil))
	if err != nil {
		return err
	}
	switch name := place(id); {
	case c.spool.named[name]:
	case c.there[name] == int64(len(sealed)): // a piece that was cut off by a full disk has another size
		c.same++
	default:
		if err := c.spool.add(name, sealed); err != nil {
			return err
		}
		if content {
			c.fresh++
			c.bytes += int64(len(sealed))
		}
	}
	c.ix.Pieces = append(c.ix.Pieces, id)
	c.lines.Reset()
	return nil
}

func place(id string) string { return pieces + id[:2] + "/" + id }

// sealed returns a frame as a piece.
func (f *Folder) sealed(frame []byte) (id string, sealed []byte, err error) {
	names := f.key.Derive("names")
	defer names.Zero()
	b := names.Bytes()
	defer clear(b)
	mac := hmac.New(sha256.New, b)
	_, _ = mac.Write(frame) // a hash never fails
	id = hex.EncodeToString(mac.Sum(nil))
	key := f.key.Derive("piece " + id)
	defer key.Zero()
	sealed, err = io.ReadAll(seal.SealStream(key, bytes.NewReader(frame)))
	return id, sealed, err
}
