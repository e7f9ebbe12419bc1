package peer

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
)

// These sizes are in bytes.
const (
	nonceSize = 16
	proofSize = sha256.Size
	maskSize  = 8
)

func mac(key []byte, parts ...string) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		fmt.Fprintf(m, "%d:%s", len(p), p)
	}
	return m.Sum(nil)
}

// prove answers a question of a stranger. Only a member of the space can
// check the answer, which says that a member is at this address and,
// encrypted by a mask, which one.
func (s *Server) prove(w http.ResponseWriter, r *http.Request) {
	key, nonce := s.Key(), r.PathValue("nonce")
	if key == nil || len(nonce) != 2*nonceSize || !hereAt(r) { // the question was meant for another address and was forwarded
		fail(w, errNothing)
		return
	}
	member := s.Self
	for i, b := range mac(key, "locket/v1 peer mask", nonce)[:maskSize] {
		member[i] ^= b
	}
	w.Header().Set("Content-Type", page.Bytes)
	w.Write(append(member[:], mac(key, "locket/v1 peer proof", nonce, r.Host, s.Self.String())...))
}

// ErrStranger: whoever is at an address does not know the space's key.
var ErrStranger = errors.New("no member is at this address")

// Ask finds out which member is at an address (host:port) without saying who
// asks. keys are the keys that the member may know.
func Ask(ctx context.Context, client *http.Client, address string, keys ...[]byte) (id memory.MemberID, err error) {
	var raw [nonceSize]byte
	rand.Read(raw[:])
	nonce := hex.EncodeToString(raw[:])
	u := url.URL{Scheme: "http", Host: address, Path: "/v1/peer/" + nonce}
	req, err := http.NewRequestWithContext(ctx, "GET", u.String(), nil)
	if err != nil {
		return id, err
	}
	res, err := client.Do(req)
	if err != nil {
		return id, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maskSize+proofSize+1))
	if err != nil {
		return id, err
	}
	if res.StatusCode != http.StatusOK {
		return id, fmt.Errorf("%s: %w", address, ErrStranger)
	}
	return who(b, nonce, address, keys...)
}

// who returns the member that gave an answer, or [ErrStranger].
func who(answer []byte, nonce, address string, keys ...[]byte) (id memory.MemberID, err error) {
	if len(answer) != maskSize+proofSize {
		return id, fmt.Errorf("%s: %w", address, ErrStranger)
	}
	for _, key := range keys {
		copy(id[:], answer)
		for i, m := range mac(key, "locket/v1 peer mask", nonce)[:maskSize] {
			id[i] ^= m
		}
		if hmac.Equal(answer[maskSize:], mac(key, "locket/v1 peer proof", nonce, httpsig.Host(address), id.String())) {
			return id, nil
		}
	}
	return memory.MemberID{}, fmt.Errorf("%s: %w", address, ErrStranger)
}
