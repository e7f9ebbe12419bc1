package seal

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/locket-dev/locket/crypto/length"
)

// Padded content can be read back, whatever its length and however it is read, and has the
// predicted length, sealed or not.
func TestPad(t *testing.T) {
	key := NewKey()
	for _, n := range []int64{1, 255, 256, 257, 5000, streamChunk - 1, streamChunk, streamChunk + 1, 3*streamChunk + 9} {
		plain := bytes.Repeat([]byte{7, 1, 0}, int(n)/3+1)[:n]
		padded, err := io.ReadAll(iotest.OneByteReader(Pad(iotest.DataErrReader(bytes.NewReader(plain)), n)))
		if err != nil || int64(len(padded)) != length.Padded(n) {
			t.Fatalf("%d bytes: padded to %d, %v", n, len(padded), err)
		}
		sealed, err := io.ReadAll(SealStream(key, Pad(bytes.NewReader(plain), n)))
		if err != nil || int64(len(sealed)) != length.Stream(length.Padded(n)) {
			t.Fatalf("%d bytes: sealed in %d, %v", n, len(sealed), err)
		}
		got, err := io.ReadAll(Unpad(OpenStream(key, bytes.NewReader(sealed)), n))
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: %d came back, %v", n, len(got), err)
		}
	}
	if got := length.Stream(0); got != 16 {
		t.Errorf("an empty stream has %d bytes", got)
	}
}

func TestPadRefuses(t *testing.T) {
	plain := bytes.Repeat([]byte{9}, 5000)
	padded, err := io.ReadAll(Pad(bytes.NewReader(plain), 5000))
	if err != nil {
		t.Fatal(err)
	}
	marked := bytes.Clone(padded)
	marked[len(marked)-1] = 1
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"padded, of fewer bytes":       {Pad(bytes.NewReader(plain), 5001), ErrOpen},
		"padded, of more bytes":        {Pad(bytes.NewReader(plain), 4999), ErrOpen},
		"padded, a reader that fails":  {Pad(iotest.ErrReader(broken), 5000), broken},
		"of more bytes than said":      {Unpad(bytes.NewReader(padded), 4999), ErrOpen},
		"zeros that are cut off":       {Unpad(bytes.NewReader(padded[:len(padded)-1]), 5000), ErrOpen},
		"no zeros":                     {Unpad(bytes.NewReader(plain), 5000), ErrOpen},
		"cut off before the zeros":     {Unpad(bytes.NewReader(plain[:4999]), 5000), ErrOpen},
		"zeros too many":               {Unpad(bytes.NewReader(append(bytes.Clone(padded), 0)), 5000), ErrOpen},
		"something within the padding": {Unpad(bytes.NewReader(marked), 5000), ErrOpen},
		"a reader that fails":          {Unpad(iotest.ErrReader(broken), 5000), broken},
	} {
		if _, err := io.ReadAll(c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
