package peer

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/golden"
	"github.com/locket-dev/locket/memory"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

// vectors is testdata/vectors.json: what a member answers to GET
// /v1/peer/NONCE at a host, and what is no member's answer.
type vectors struct {
	Key     string        `json:"key"`
	Proofs  []vectorProof `json:"proofs"`
	Refused []vectorProof `json:"refused"`
}

type vectorProof struct {
	Why    string          `json:"why,omitempty"`
	Nonce  string          `json:"nonce"`
	Host   string          `json:"host"`
	Member memory.MemberID `json:"member"`
	Answer string          `json:"answer"`
}

// hostAddr is an address that a connection came to.
type hostAddr string

func (hostAddr) Network() string  { return "tcp" }
func (a hostAddr) String() string { return string(a) }

var _ net.Addr = hostAddr("")

func TestVectors(t *testing.T) {
	key := bytes.Repeat([]byte{0x1a}, 32)
	answer := func(nonce, host string, member memory.MemberID, key []byte) string {
		s := &Server{Self: member, Key: func() []byte { return key }}
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(hostAddr(host))), "GET", "http://"+host+"/v1/peer/"+nonce, nil)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		b, err := io.ReadAll(w.Result().Body)
		if err != nil || w.Code != http.StatusOK {
			t.Fatal(w.Code, err)
		}
		return hex.EncodeToString(b)
	}
	made := vectors{Key: hex.EncodeToString(key)}
	for i, host := range []string{"192.168.1.7:4711", "10.0.0.2:65535", "[fd00::7]:4711", "[fe80::7]:4711"} {
		nonce, member := strings.Repeat(hex.EncodeToString([]byte{byte(i), 0xab}), nonceSize/2), memory.MemberID{byte(i + 1), 0xfe}
		made.Proofs = append(made.Proofs, vectorProof{Nonce: nonce, Host: host, Member: member, Answer: answer(nonce, host, member, key)})
	}
	p := made.Proofs[0]
	bad := func(why string, change func(*vectorProof)) {
		q := p
		change(&q)
		q.Why = why
		made.Refused = append(made.Refused, q)
	}
	bad("of another question", func(q *vectorProof) { q.Nonce = made.Proofs[1].Nonce })
	bad("handed on from another address", func(q *vectorProof) { q.Host = made.Proofs[1].Host })
	bad("under another key", func(q *vectorProof) { q.Answer = answer(p.Nonce, p.Host, p.Member, bytes.Repeat([]byte{0x1b}, 32)) })
	bad("another member's mask", func(q *vectorProof) { q.Answer = made.Proofs[1].Answer[:2*maskSize] + p.Answer[2*maskSize:] })
	bad("cut", func(q *vectorProof) { q.Answer = p.Answer[:len(p.Answer)-2] })
	bad("nothing", func(q *vectorProof) { q.Answer = "" })
	var v vectors
	golden.JSON(t, filepath.Join("testdata", "vectors.json"), made, &v, *update)
	for _, q := range append(v.Proofs, v.Refused...) {
		// Its nonce is Ask's to choose: the answer is looked at by the same code.
		b, err := hex.DecodeString(q.Answer)
		if err != nil {
			t.Fatal(err)
		}
		id, err := who(b, q.Nonce, q.Host, key)
		if q.Why == "" && (err != nil || id != q.Member) || q.Why != "" && !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %s, %v", q.Why, id, err)
		}
	}
}

// An address of the link has another zone on each machine, and requests name none.
func TestZoneIsNoPartOfAnAddress(t *testing.T) {
	key, nonce := bytes.Repeat([]byte{0x1a}, 32), strings.Repeat("ab", nonceSize)
	s := &Server{Self: memory.MemberID{7}, Key: func() []byte { return key }}
	ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(hostAddr("[fe80::7%eth0]:4711")))
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://[fe80::7]:4711/v1/peer/"+nonce, nil))
	if id, err := who(w.Body.Bytes(), nonce, "[fe80::7%wlan0]:4711", key); err != nil || id != s.Self {
		t.Errorf("%d: %s, %v", w.Code, id, err)
	}
}
