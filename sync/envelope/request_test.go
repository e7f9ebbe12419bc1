package envelope

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestRequest(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	want := Request{Key: key.Public().(ed25519.PublicKey), Recipient: "age1pq1" + strings.Repeat("q", 1900)}
	s, err := SignRequest(want, KeySigner(key))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{s, " " + s + "\n", s[:70] + "\n  " + s[70:]} {
		got, err := ParseRequest(text)
		if err != nil || !bytes.Equal(got.Key, want.Key) || got.Recipient != want.Recipient {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	for i := 0; i < len(s); i += 13 { // a changed character never passes
		for _, c := range []byte("A_") {
			b := []byte(s)
			if b[i] == c {
				continue
			}
			b[i] = c
			if got, err := ParseRequest(string(b)); err == nil {
				t.Fatalf("changed at %d: %+v", i, got)
			} else if !errors.Is(err, ErrForm) && !errors.Is(err, ErrSignature) {
				t.Fatal(err)
			}
		}
	}
	for _, bad := range []string{"", RequestPrefix, s[:len(s)-1], s[:100], s + "A", strings.TrimPrefix(s, "locket-"), s + strings.Repeat("AAAA", 100)} {
		if _, err := ParseRequest(bad); err == nil {
			t.Errorf("%.40q was taken", bad)
		}
	}
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32))
	s, _ = SignRequest(want, KeySigner(other))
	if _, err := ParseRequest(s); !errors.Is(err, ErrSignature) {
		t.Errorf("somebody else's key: %v", err)
	}
}

func TestWelcome(t *testing.T) {
	want := Welcome{Space: [16]byte{1, 2, 3}, Genesis: Hash{4, 5, 6}}
	s := want.String()
	if got, err := ParseWelcome(" " + s[:30] + "\n" + s[30:]); err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range s {
		b := []byte(s)
		if b[i]++; b[i] == s[i] {
			continue
		}
		if got, err := ParseWelcome(string(b)); err == nil {
			t.Fatalf("changed at %d: %+v", i, got)
		}
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)).Public().(ed25519.PublicKey)
	if MemberOf(key, want.Space) == MemberOf(key, [16]byte{9}) {
		t.Error("one name in two spaces")
	}
}

// These are the vectors of FORMAT.md.
func TestRequestVectors(t *testing.T) {
	format, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	r := Request{Key: key.Public().(ed25519.PublicKey), Recipient: "age1example"}
	s, err := SignRequest(r, KeySigner(key))
	if err != nil {
		t.Fatal(err)
	}
	space := memory.SpaceID(bytes.Repeat([]byte{1}, 16))
	for _, want := range []string{s, r.Member(space).String(), Welcome{space, Hash(bytes.Repeat([]byte{2}, 32))}.String()} {
		if !strings.Contains(string(format), "`"+want+"`") && !strings.Contains(string(format), " "+want+";") {
			t.Errorf("FORMAT.md does not have %s", want)
		}
	}
}
