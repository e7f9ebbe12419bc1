package store

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/crypto/seal"
)

// open decrypts the records of a unit.
func (u *coldUnit) open(pack uint64, body []byte) ([]coldRecord, error) {
	bad := func(what string) error { return damaged(coldKey(pack), "the pack's body "+what) }
	if int64(u.Off)+int64(u.Len) > int64(len(body)) {
		return nil, bad("is cut short")
	}
	k, err := seal.KeyFromBytes(u.Key)
	if err != nil {
		return nil, bad("has no key")
	}
	defer k.Zero()
	squeezed, err := k.Open(nil, body[u.Off:u.Off+u.Len], u.Group)
	if err != nil {
		return nil, bad("was altered")
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(squeezed)), maxUnit*maxValue))
	if err != nil {
		return nil, bad("can't be inflated")
	}
	records, err := decode[[]coldRecord](coldKey(pack), plain)
	for _, r := range records {
		if len(r.Key) == 0 {
			return nil, bad("holds a record without a key")
		}
		size := map[kind]int{kindAssertion: 1 + idSize + dotSize, kindMemory: 1 + idSize, kindChange: 1 + seqSize, kindChangeOf: 1 + idSize + seqSize}[kind(r.Key[0])]
		if size == 0 || len(r.Key) != size {
			return nil, bad("holds a record that does not belong there")
		}
	}
	return records, err
}

// ErrPack: the bytes are not the pack that the page names.
var ErrPack = errors.New("store: not the body of this pack")

// checkBody refuses a body of a wrong size. Each entry is authenticated by its
// seal.
func (p *coldPage) checkBody(body []byte) error {
	if int64(len(body)) != p.Size {
		return fmt.Errorf("%w: %d bytes, want %d", ErrPack, len(body), p.Size)
	}
	return nil
}
