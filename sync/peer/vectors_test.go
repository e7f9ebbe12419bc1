package peer

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"flag"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/internal/testing/golden"
	"github.com/locket-dev/locket/memory"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

// vectors is testdata/vectors.json: the proofs in members' certificates, and invalid proofs.
type vectors struct {
	Key     string        `json:"key"`
	Proofs  []vectorProof `json:"proofs"`
	Refused []vectorProof `json:"refused"`
}

type vectorProof struct {
	Why    string          `json:"why,omitempty"`
	Public string          `json:"public"`
	Host   string          `json:"host"`
	Member memory.MemberID `json:"member"`
	Proof  string          `json:"proof"`
}

func TestVectors(t *testing.T) {
	key := bytes.Repeat([]byte{0x1a}, 32)
	proof := func(public []byte, host string, member memory.MemberID, key []byte) string {
		return hex.EncodeToString(prove(key, public, host, member))
	}
	made := vectors{Key: hex.EncodeToString(key)}
	publics := [][]byte{}
	for i, host := range []string{"192.168.1.7:4711", "10.0.0.2:65535", "[fd00::7]:4711", "[fe80::7]:4711"} {
		public, member := bytes.Repeat([]byte{byte(i), 0xab}, ed25519.PublicKeySize/2), memory.MemberID{byte(i + 1), 0xfe}
		publics = append(publics, public)
		made.Proofs = append(made.Proofs, vectorProof{Public: hex.EncodeToString(public), Host: host, Member: member, Proof: proof(public, host, member, key)})
	}
	p := made.Proofs[0]
	bad := func(why string, change func(*vectorProof)) {
		q := p
		change(&q)
		q.Why = why
		made.Refused = append(made.Refused, q)
	}
	bad("of another certificate", func(q *vectorProof) { q.Public = made.Proofs[1].Public })
	bad("passed on from another address", func(q *vectorProof) { q.Host = made.Proofs[1].Host })
	bad("under another key", func(q *vectorProof) { q.Proof = proof(publics[0], p.Host, p.Member, bytes.Repeat([]byte{0x1b}, 32)) })
	bad("another member's mask", func(q *vectorProof) { q.Proof = made.Proofs[1].Proof[:2*maskSize] + p.Proof[2*maskSize:] })
	bad("cut", func(q *vectorProof) { q.Proof = p.Proof[:len(p.Proof)-2] })
	bad("nothing", func(q *vectorProof) { q.Proof = "" })
	var v vectors
	golden.JSON(t, filepath.Join("testdata", "vectors.json"), made, &v, *update)
	for _, q := range append(v.Proofs, v.Refused...) {
		b, err := hex.DecodeString(q.Proof)
		if err != nil {
			t.Fatal(err)
		}
		public, err := hex.DecodeString(q.Public)
		if err != nil {
			t.Fatal(err)
		}
		id, err := who(b, public, q.Host, key)
		if q.Why == "" && (err != nil || id != q.Member) || q.Why != "" && !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %s, %v", q.Why, id, err)
		}
	}
}

// A link-local address has another zone on each machine.
func TestZoneIsRemovedFromAddress(t *testing.T) {
	key, public, self := bytes.Repeat([]byte{0x1a}, 32), bytes.Repeat([]byte{0xab}, 32), memory.MemberID{7}
	if id, err := who(prove(key, public, "[fe80::7%eth0]:4711", self), public, "[fe80::7%wlan0]:4711", key); err != nil || id != self {
		t.Errorf("%s, %v", id, err)
	}
}
