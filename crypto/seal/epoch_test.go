package seal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"filippo.io/age"
)

func TestBody(t *testing.T) {
	epoch := NewKey()
	for _, size := range []int{0, 1, 256, 500, 64 << 10, 200 << 10} {
		plain := bytes.Repeat([]byte("a"), size)
		sealed, err := SealBody(epoch, plain)
		if err != nil {
			t.Fatal(err)
		}
		chunks := max(1, (size+64<<10-1)/(64<<10))
		if over := len(sealed) - size; over != 129+16*chunks {
			t.Errorf("%d bytes: %d more", size, over)
		}
		got, err := OpenBody(epoch, sealed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// Only the epoch's key opens a body, and every changed bit is detected.
func TestBodyIsRefused(t *testing.T) {
	gone := NewKey()
	gone.Zero()
	if _, err := SealBody(gone, nil); !errors.Is(err, ErrZeroed) {
		t.Errorf("sealed with a zeroed key: %v", err)
	}
	if _, err := OpenBody(gone, nil); !errors.Is(err, ErrZeroed) {
		t.Errorf("opened with a zeroed key: %v", err)
	}
	epoch := NewKey()
	sealed, err := SealBody(epoch, []byte("a body of a delta"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBody(NewKey(), sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("another epoch: %v", err)
	}
	for i := range len(sealed) * 8 {
		b := bytes.Clone(sealed)
		b[i/8] ^= 1 << (i % 8)
		if _, err := OpenBody(epoch, b); !errors.Is(err, ErrOpen) {
			t.Fatalf("bit %d of byte %d: %v", i%8, i/8, err)
		}
	}
	for n := range sealed {
		if _, err := OpenBody(epoch, sealed[:n]); !errors.Is(err, ErrOpen) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	to, err := SealTo(NewIdentity().Recipient(), []byte("for someone"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBody(epoch, to); !errors.Is(err, ErrOpen) {
		t.Errorf("sealed to a recipient: %v", err)
	}
	epoch.Zero()
	if _, err := OpenBody(epoch, sealed); !errors.Is(err, ErrZeroed) {
		t.Errorf("zeroed: %v", err)
	}
	if _, err := SealBody(epoch, nil); !errors.Is(err, ErrZeroed) {
		t.Errorf("seal zeroed: %v", err)
	}
}

// age itself refuses to seal to an epoch together with anybody else.
func TestEpochRecipientAlone(t *testing.T) {
	x, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, beside := range []age.Recipient{x.Recipient(), NewIdentity().Recipient().r, epochRecipient{NewKey()}} {
		if _, err := age.Encrypt(io.Discard, epochRecipient{NewKey()}, beside); err == nil {
			t.Errorf("sealed to an epoch and to %T", beside)
		}
	}
}

// The vectors of RFC 3394, sections 4.3 and 4.6.
func TestKeyWrapVectors(t *testing.T) {
	kek := "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"
	for _, v := range [][2]string{
		{"00112233445566778899AABBCCDDEEFF", "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"},
		{"00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F", "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21"},
	} {
		k, key, want := unhex(t, kek), unhex(t, v[0]), unhex(t, v[1])
		got, err := wrapKey(k, key)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("wrap %s: %x, %v", v[0], got, err)
		}
		back, err := unwrapKey(k, want)
		if err != nil || !bytes.Equal(back, key) {
			t.Errorf("unwrap %s: %x, %v", v[1], back, err)
		}
	}
	for _, n := range []int{0, 8, 15, 17} {
		if _, err := wrapKey(unhex(t, kek), make([]byte, n)); err == nil {
			t.Errorf("wrapped %d bytes", n)
		}
	}
	for _, n := range []int{0, 8, 16, 25} {
		if _, err := unwrapKey(unhex(t, kek), make([]byte, n)); err == nil {
			t.Errorf("unwrapped %d bytes", n)
		}
	}
}

func TestEpochKeys(t *testing.T) {
	id, space := NewIdentity(), [16]byte{1, 2, 3}
	keys := Epochs{1: NewKey(), 2: NewKey(), 70000: NewKey()}
	sealed, err := SealEpochs(id.Recipient(), space, keys)
	if err != nil {
		t.Fatal(err)
	}
	got, err := OpenEpochs(id, space, sealed)
	if err != nil || len(got) != len(keys) {
		t.Fatalf("%d keys, %v", len(got), err)
	}
	for n, k := range keys {
		if !k.Equal(got[n]) {
			t.Errorf("epoch %d has another key", n)
		}
	}
	if _, err := OpenEpochs(id, [16]byte{1}, sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("another space: %v", err)
	}
	if _, err := OpenEpochs(NewIdentity(), space, sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("another member: %v", err)
	}
	if _, err := SealEpochs(id.Recipient(), space, nil); err == nil {
		t.Error("sealed no keys")
	}
	if _, err := SealEpochs(id.Recipient(), space, Epochs{0: NewKey()}); err == nil {
		t.Error("sealed an epoch without a number")
	}
	one := append(append([]byte{1}, space[:]...), make([]byte, 36)...) // epoch 0
	twice := append(append(append([]byte{1}, space[:]...), append([]byte{0, 0, 0, 1}, make([]byte, 32)...)...), append([]byte{0, 0, 0, 1}, make([]byte, 32)...)...)
	for _, plain := range [][]byte{nil, {1}, one[:17], one[:30], one, twice[:30], twice, append([]byte{2}, twice[1:53]...)} {
		sealed, err := SealTo(id.Recipient(), plain)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenEpochs(id, space, sealed); !errors.Is(err, ErrOpen) {
			t.Errorf("%x: %v", plain, err)
		}
	}
	got.Zero()
	if _, err := SealEpochs(id.Recipient(), space, got); !errors.Is(err, ErrZeroed) {
		t.Errorf("zeroed keys: %v", err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func BenchmarkSealBody(b *testing.B) {
	epoch, plain := NewKey(), make([]byte, 512)
	b.SetBytes(int64(len(plain)))
	for b.Loop() {
		if _, err := SealBody(epoch, plain); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenBody(b *testing.B) {
	epoch := NewKey()
	sealed, err := SealBody(epoch, make([]byte, 512))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(512)
	for b.Loop() {
		if _, err := OpenBody(epoch, sealed); err != nil {
			b.Fatal(err)
		}
	}
}

// A key that was wrapped under another key, or changed, is refused by key wrap itself, before age
// would.
func TestKeyWrapIsChecked(t *testing.T) {
	kek, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	wrapped, err := wrapKey(kek, bytes.Repeat([]byte{3}, 16))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unwrapKey(other, wrapped); err == nil {
		t.Error("the wrapped key opens under another key")
	}
	if _, err := unwrapKey(kek, append(bytes.Clone(wrapped), 0)); err == nil {
		t.Error("a byte more, and it opens")
	}
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 1
		if _, err := unwrapKey(kek, changed); err == nil {
			t.Errorf("byte %d was changed, and it opens", i)
		}
	}
}
