package seal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

func counting(from byte) *Key {
	b := make([]byte, KeySize)
	for i := range b {
		b[i] = from + byte(i)
	}
	k, err := KeyFromBytes(b)
	if err != nil {
		panic(err)
	}
	return k
}

func TestKeyIsNotPrinted(t *testing.T) {
	k := counting('A') // its bytes are "ABCDEF…"
	id := IdentityFromSeed(k)
	var log bytes.Buffer
	l := slog.New(slog.NewTextHandler(&log, nil))
	l.Info("x", "p", k, "v", *k, "id", id, "idv", *id)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "p", k, "v", *k, "id", id, "in", struct{ K *Key }{k})
	type holder struct {
		k  Key
		p  *Key
		id *Identity
	}
	out := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		out += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, *k) + fmt.Sprintf(verb, id) + fmt.Sprintf(verb, *id)
		out += fmt.Sprintf(verb, holder{*k, k, id}) + fmt.Sprintf(verb, &holder{*k, k, id})
	}
	for _, leak := range []string{"ABCD", "41424344", "41 42", "65 66 67", "0x41, 0x42", "QUJD", bech32("AGE-SECRET-KEY-PQ-", k.Bytes())} {
		if strings.Contains(strings.ToUpper(out), strings.ToUpper(leak)) {
			t.Errorf("%q is in what was printed:\n%s", leak, out)
		}
	}
	for _, v := range []any{k, *k, id, *id} {
		if _, err := json.Marshal(v); !errors.Is(err, ErrSecret) {
			t.Errorf("json of %T: %v, want ErrSecret", v, err)
		}
		if _, err := cbor.Marshal(v); !errors.Is(err, ErrSecret) {
			t.Errorf("cbor of %T: %v, want ErrSecret", v, err)
		}
	}
}

func TestKeyEndsWithZero(t *testing.T) {
	k := NewKey()
	c, raw := *k, k.s.b[:]
	sealed := k.Seal(nil, []byte("x"), nil)
	k.Zero()
	k.Zero()
	if !bytes.Equal(raw, make([]byte, KeySize)) {
		t.Error("bytes are left after Zero")
	}
	if c.Equal(&c) || k.Equal(&Key{}) {
		t.Error("a zeroed key equals something")
	}
	if _, err := c.Open(nil, sealed, nil); !errors.Is(err, ErrZeroed) {
		t.Errorf("open with a zeroed copy: %v", err)
	}
	if _, err := OpenWith(IdentityFromSeed(k), sealed); !errors.Is(err, ErrZeroed) {
		t.Errorf("open with a zeroed identity: %v", err)
	}
	for name, f := range map[string]func(){
		"seal": func() { k.Seal(nil, nil, nil) }, "derive": func() { k.Derive("x") },
		"mac": func() { k.MAC("x") }, "bytes": func() { k.Bytes() },
		"zero value": func() { new(Key).Seal(nil, nil, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: went on with a zeroed key", name)
				}
			}()
			f()
		}()
	}
}

func TestKeyFromBytesLength(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33, 64} {
		if _, err := KeyFromBytes(make([]byte, n)); err == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
}

// The values were computed with Python's hmac and hashlib, from RFC 5869 and
// the layout that MAC documents.
func TestDeriveAndMACGolden(t *testing.T) {
	k := counting(0)
	d := k.Derive("store values")
	if got, want := hex.EncodeToString(d.Bytes()), "718e75e96f9f2841bf31e61005cf8c78c8fe1ee8ab8e7bf3b936a24f1b6e5f26"; got != want {
		t.Errorf("derive: %s, want %s", got, want)
	}
	m := k.MAC("set digest", []byte("ab"), nil, []byte("c"))
	if got, want := hex.EncodeToString(m[:]), "244563b907300a179c423a35392215e06e0dbb64c37b48f6982c8278d587b23e"; got != want {
		t.Errorf("mac: %s, want %s", got, want)
	}
}

func TestMACTellsPartsApart(t *testing.T) {
	k := counting(0)
	seen := map[[32]byte]int{}
	for i, m := range [][32]byte{
		k.MAC("l"), k.MAC("l", nil), k.MAC("l", nil, nil), k.MAC("l", []byte("ab")), k.MAC("l", []byte("a"), []byte("b")),
		k.MAC("la", []byte("b")), k.MAC("lab"), counting(1).MAC("l"),
	} {
		if j, ok := seen[m]; ok {
			t.Errorf("lists %d and %d have one MAC", i, j)
		}
		seen[m] = i
	}
}
