package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"filippo.io/age"
)

func TestPairRoundTrip(t *testing.T) {
	if _, err := SealToEach([]byte("x"), NewIdentity().Recipient(), nil); err == nil {
		t.Error("sealed to fewer than were named")
	}
	id := NewIdentity()
	r, err := ParseRecipient(id.Recipient().String())
	if err != nil || !r.Equal(id.Recipient()) {
		t.Fatalf("parse: %v", err)
	}
	var in struct{ R *Recipient }
	text, err := json.Marshal(struct{ R *Recipient }{r})
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil || !in.R.Equal(r) {
		t.Fatalf("json: %v", err)
	}
	for _, n := range []int{0, 1, 500, 64 << 10, 200_000} {
		plain := bytes.Repeat([]byte{9}, n)
		sealed, err := SealTo(in.R, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := OpenWith(id, sealed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if _, err := OpenWith(NewIdentity(), sealed); !errors.Is(err, ErrOpen) {
			t.Fatalf("another identity: %v", err)
		}
	}
	again := IdentityFromSeed(counting(5))
	if !again.Recipient().Equal(IdentityFromSeed(counting(5)).Recipient()) {
		t.Error("one seed gives two recipients")
	}
	if _, err := SealTo(&Recipient{}, nil); err == nil {
		t.Error("sealed to nobody")
	}
}

// The golden file was sealed by version 1 to the seed 05 06 07 …; its recipient is the one that the
// age command derives from the identity.
func TestPairGolden(t *testing.T) {
	id := IdentityFromSeed(counting(5))
	want := golden(t, "recipient-v1.hex", []byte(id.Recipient().String()))
	if string(want) != id.Recipient().String() {
		t.Errorf("recipient of the golden seed is %s", id.Recipient())
	}
	var fresh []byte
	if *update {
		fresh, _ = SealTo(id.Recipient(), []byte("4711"))
	}
	got, err := OpenWith(id, golden(t, "pair-v1.hex", fresh))
	if err != nil || string(got) != "4711" {
		t.Errorf("golden file: %q, %v", got, err)
	}
}

func TestBech32AsAge(t *testing.T) {
	for range 20 {
		want, err := age.GenerateHybridIdentity()
		if err != nil {
			t.Fatal(err)
		}
		k := NewKey()
		id, err := age.ParseHybridIdentity(bech32("AGE-SECRET-KEY-PQ-", k.Bytes()))
		if err != nil || id.String() != bech32("AGE-SECRET-KEY-PQ-", k.Bytes()) || len(id.String()) != len(want.String()) {
			t.Fatalf("age reads another identity: %v", err)
		}
	}
}

// An age file with one flipped bit may fail to parse or to authenticate; it never opens.
func TestPairEveryBitFlipIsRefused(t *testing.T) {
	id := IdentityFromSeed(counting(5))
	sealed, err := SealTo(id.Recipient(), []byte("the safe opens with 4711"))
	if err != nil {
		t.Fatal(err)
	}
	share := bytes.Index(sealed, []byte("mlkem768x25519 ")) + 15
	for bit := range len(sealed) * 8 {
		if at := bit / 8; at > share+64 && at < share+1400 && bit%11 != 0 {
			continue // a sample of the ML-KEM share, 1.5 kB that are all hashed in the same way
		}
		b := bytes.Clone(sealed)
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := OpenWith(id, b); !errors.Is(err, ErrOpen) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	for n := 0; n < len(sealed); n += 1 + n/400 {
		if _, err := OpenWith(id, sealed[:n]); !errors.Is(err, ErrOpen) {
			t.Fatalf("cut to %d: %v", n, err)
		}
	}
}

func TestRecipientEveryBitFlipIsRefused(t *testing.T) {
	s := IdentityFromSeed(counting(5)).Recipient().String()
	for bit := range len(s) * 8 {
		b := []byte(s)
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := ParseRecipient(string(b)); err == nil {
			t.Fatalf("bit %d: taken", bit)
		}
	}
	for _, bad := range []string{"", "age1", "age1pq1", "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"} {
		if _, err := ParseRecipient(bad); err == nil {
			t.Errorf("%q: taken", bad)
		}
	}
}

func FuzzOpenWith(f *testing.F) {
	id := IdentityFromSeed(counting(5))
	sealed, err := SealTo(id.Recipient(), []byte("x"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add([]byte("age-encryption.org/v1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := OpenWith(id, b); err != nil && !errors.Is(err, ErrOpen) {
			t.Fatal(err)
		}
	})
}

func BenchmarkPair(b *testing.B) {
	id := NewIdentity()
	r := id.Recipient()
	plain := make([]byte, 500)
	sealed, _ := SealTo(r, plain)
	b.Run("seal500B", func(b *testing.B) {
		for b.Loop() {
			SealTo(r, plain)
		}
	})
	b.Run("open500B", func(b *testing.B) {
		for b.Loop() {
			OpenWith(id, sealed)
		}
	})
}
