package seal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with testdata/name, one line of hexadecimal.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(hex.EncodeToString(got)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func TestValueGolden(t *testing.T) {
	k := counting(0)
	nonce := counting(64).Bytes()[:24]
	got := k.sealWith(nonce, nil, []byte("the dentist is on Friday"), []byte("memory/1"))
	if want := golden(t, "value-v1.hex", got); !bytes.Equal(got, want) {
		t.Errorf("sealed value is\n%x, want\n%x", got, want)
	}
	plain, err := k.Open([]byte("> "), got, []byte("memory/1"))
	if err != nil || string(plain) != "> the dentist is on Friday" {
		t.Errorf("open: %q, %v", plain, err)
	}
}

func TestValueNonceIsFresh(t *testing.T) {
	k := counting(0)
	if bytes.Equal(k.Seal(nil, []byte("x"), nil), k.Seal(nil, []byte("x"), nil)) {
		t.Error("two seals of one value are alike")
	}
}

func TestValueSizesAndBinding(t *testing.T) {
	k := counting(0)
	for _, n := range []int{0, 1, 63, 64, 65, 4096, 1 << 20} {
		plain := bytes.Repeat([]byte{7}, n)
		sealed := k.Seal([]byte("pre"), plain, []byte("ad"))
		if len(sealed) != 3+n+Overhead || string(sealed[:3]) != "pre" {
			t.Fatalf("%d bytes became %d", n, len(sealed))
		}
		got, err := k.Open(nil, sealed[3:], []byte("ad"))
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		for name, f := range map[string]func() ([]byte, error){
			"other ad":  func() ([]byte, error) { return k.Open(nil, sealed[3:], []byte("ae")) },
			"no ad":     func() ([]byte, error) { return k.Open(nil, sealed[3:], nil) },
			"other key": func() ([]byte, error) { return counting(1).Open(nil, sealed[3:], []byte("ad")) },
			"cut":       func() ([]byte, error) { return k.Open(nil, sealed[3:len(sealed)-1], []byte("ad")) },
			"longer":    func() ([]byte, error) { return k.Open(nil, append(sealed[3:len(sealed):len(sealed)], 0), []byte("ad")) },
			"empty":     func() ([]byte, error) { return k.Open(nil, nil, []byte("ad")) },
		} {
			if got, err := f(); !errors.Is(err, ErrOpen) || got != nil {
				t.Errorf("%d bytes, %s: %v", n, name, err)
			}
		}
		for short := range Overhead {
			if _, err := k.Open(nil, sealed[3:3+short:3+short], []byte("ad")); !errors.Is(err, ErrOpen) {
				t.Errorf("%d bytes, cut to %d: %v", n, short, err)
			}
		}
	}
}

func TestValueEveryBitFlipIsRefused(t *testing.T) {
	k := counting(0)
	sealed := k.Seal(nil, []byte("one flipped bit changes nothing unseen"), []byte("ad"))
	for bit := range len(sealed) * 8 {
		b := bytes.Clone(sealed)
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := k.Open(nil, b, []byte("ad")); !errors.Is(err, ErrOpen) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
}

func FuzzValue(f *testing.F) {
	f.Add([]byte("plaintext"), []byte("ad"), uint32(0))
	f.Add([]byte{}, []byte{}, uint32(200))
	f.Fuzz(func(t *testing.T, plain, ad []byte, bit uint32) {
		k := counting(3)
		sealed := k.Seal(nil, plain, ad)
		got, err := k.Open(nil, sealed, ad)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("round trip: %v", err)
		}
		n := int(bit % uint32(len(sealed)*8))
		sealed[n/8] ^= 1 << (n % 8)
		if _, err := k.Open(nil, sealed, ad); !errors.Is(err, ErrOpen) {
			t.Fatalf("bit %d flipped: %v", n, err)
		}
		if _, err := k.Open(nil, plain, ad); !errors.Is(err, ErrOpen) {
			t.Fatalf("raw input opened: %v", err)
		}
	})
}

func BenchmarkValue(b *testing.B) {
	k := counting(0)
	plain, ad := make([]byte, 500), make([]byte, 32)
	sealed := k.Seal(nil, plain, ad)
	b.Run("seal500B", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.Seal(nil, plain, ad)
		}
	})
	b.Run("open500B", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := k.Open(nil, sealed, ad); err != nil {
				b.Fatal(err)
			}
		}
	})
}
