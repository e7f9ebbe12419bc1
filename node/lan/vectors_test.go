package lan

import (
	"bytes"
	"encoding/hex"
	"flag"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/golden"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

// vectors is testdata/vectors.json: beacons as docs/protocol.md describes them,
// "Between devices", and which beacon belongs to a time (s since 1970) and an
// address.
type vectors struct {
	EpochKey string         `json:"epoch_key"`
	Key      string         `json:"key"`
	Beacons  []vectorBeacon `json:"beacons"`
	Heard    []vectorHeard  `json:"heard"`
}

type vectorBeacon struct {
	Time    int64  `json:"time"`
	Nonce   string `json:"nonce"`
	Address string `json:"address"`
	Name    string `json:"name"`
}

type vectorHeard struct {
	Why     string `json:"why"`
	Time    int64  `json:"time"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Member  bool   `json:"member"`
}

func TestVectors(t *testing.T) {
	epoch, err := seal.KeyFromBytes(bytes.Repeat([]byte{0xe1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	key := epoch.Derive("locket/v1 lan").Bytes()
	made := vectors{EpochKey: hex.EncodeToString(epoch.Bytes()), Key: hex.EncodeToString(key)}
	quarter := int64(window / time.Second)
	for i, at := range []string{"192.168.1.7:4711", "10.0.0.2:65535", "[2001:db8::1]:4711"} {
		seconds, nonce := 1_790_000_000+int64(i)*quarter, bytes.Repeat([]byte{byte(i + 1)}, 8)
		made.Beacons = append(made.Beacons, vectorBeacon{seconds, hex.EncodeToString(nonce), at, nameOf(key, seconds/quarter, nonce, netip.MustParseAddrPort(at))})
	}
	b := made.Beacons[0]
	changed := []byte(b.Name)
	changed[20] ^= 1
	made.Heard = []vectorHeard{
		{"as it was announced", b.Time, b.Name, b.Address, true},
		{"a quarter of an hour later", b.Time + quarter, b.Name, b.Address, true},
		{"a quarter of an hour earlier", b.Time - quarter, b.Name, b.Address, true},
		{"half an hour later", b.Time + 2*quarter, b.Name, b.Address, false},
		{"announced for another address", b.Time, b.Name, "192.168.1.8:4711", false},
		{"announced for another port", b.Time, b.Name, "192.168.1.7:80", false},
		{"another MAC", b.Time, string(changed), b.Address, false},
		{"in capitals", b.Time, string(bytes.ToUpper([]byte(b.Name))), b.Address, false},
		{"a printer", b.Time, "printer", b.Address, false},
		{"a short nonce", b.Time, "0101-0101", b.Address, false},
	}
	var v vectors
	golden.JSON(t, filepath.Join("testdata", "vectors.json"), made, &v, *update)
	for _, h := range v.Heard {
		if got := knows([][]byte{key}, time.Unix(h.Time, 0), h.Name, netip.MustParseAddrPort(h.Address)); got != h.Member {
			t.Errorf("%s: %v", h.Why, got)
		}
	}
}
