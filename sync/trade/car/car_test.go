package car_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/sync/trade/car"
)

// file returns a small file with a root that links two blocks.
func file(tb testing.TB) ([]byte, car.Block, []car.Block) {
	tb.Helper()
	rest := []car.Block{car.New(car.Raw, []byte("tomatoes")), car.New(car.DagCBOR, []byte{0x83, 1, 2, 3})}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		tb.Fatal(err)
	}
	data, err := mode.Marshal(map[string]any{"items": []car.CID{rest[0].CID}, "order": rest[1].CID})
	if err != nil {
		tb.Fatal(err)
	}
	root := car.New(car.DagCBOR, data)
	return car.Encode(root, rest), root, rest
}

// @ipld/car 5.4.7 read this golden file, too. In e2e, TestThreatMarketHoldsHostage reads a file of a whole
// order with it.
func TestGolden(t *testing.T) {
	b, _, _ := file(t)
	name := filepath.Join("testdata", "small.car.hex")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b) + "\n"; got != string(want) {
		t.Errorf("%s has changed:\n%s", name, got)
	}
}

func TestDecode(t *testing.T) {
	b, root, rest := file(t)
	f, err := car.Decode(b)
	if err != nil || f.Root != root.CID || f.Len() != 3 {
		t.Fatalf("%+v: %v", f, err)
	}
	for _, want := range rest {
		if got, err := f.Get(want.CID); err != nil || !bytes.Equal(got, want.Data) {
			t.Errorf("%x: %v", got, err)
		}
	}
	var links struct {
		Items []car.CID `cbor:"items"`
		Order car.CID   `cbor:"order"`
	}
	if err := cbor.Unmarshal(root.Data, &links); err != nil || links.Items[0] != rest[0].CID || links.Order != rest[1].CID {
		t.Errorf("%+v: %v", links, err)
	}
	if _, err := car.Decode(car.Encode(car.New(car.Raw, nil), nil)); err != nil {
		t.Errorf("an empty block: %v", err)
	}
	v2, err := hex.DecodeString("0aa16776657273696f6e02")
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"nothing":            {},
		"version 2":          append(v2, b...),
		"a cut block":        b[:len(b)-1],
		"a length too long":  append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, b...),
		"a padded length":    append([]byte{b[0] | 0x80, 0}, b[1:]...),
		"another codec":      car.Encode(root, []car.Block{car.New(0x70, []byte("x"))}),
		"a root that is not": car.Encode(car.Block{CID: car.Of(car.Raw, []byte("x"))}, nil),
	} {
		if _, err := car.Decode(bad); !errors.Is(err, car.ErrForm) && !errors.Is(err, car.ErrHash) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every changed byte is detected: reading gives what was written, or an error.
func FuzzDecode(f *testing.F) {
	b, _, _ := file(f)
	f.Add(b)
	f.Add(b[:60])
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := car.Decode(b)
		if err != nil {
			return
		}
		if _, err := got.Get(got.Root); err != nil {
			t.Errorf("a file without its root: %v", err)
		}
	})
}

func TestEachByteCounts(t *testing.T) {
	b, root, rest := file(t)
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		f, err := car.Decode(bad)
		if err != nil {
			continue
		}
		same := f.Root == root.CID
		for _, want := range append(rest, root) {
			got, err := f.Get(want.CID)
			same = same && err == nil && bytes.Equal(got, want.Data)
		}
		if same {
			t.Errorf("byte %d was changed, and nothing tells it", i)
		}
	}
}
