package seal

import (
	"errors"
	"testing"
)

// A note can only be opened at its place, under its label, with the key of its epoch.
func TestBlobNote(t *testing.T) {
	keys := Epochs{1: NewKey(), 2: NewKey()}
	of := func(n uint32) (*Key, bool) { k, ok := keys[n]; return k, ok }
	note := SealNote("member name", []byte("Ana's phone"), []byte("place"), 2, keys[2])
	if b, err := OpenNote("member name", note, []byte("place"), of); err != nil || string(b) != "Ana's phone" {
		t.Fatalf("%q, %v", b, err)
	}
	gone := append([]byte{0, 0, 0, 9}, note[4:]...)
	another := append([]byte{0, 0, 0, 1}, note[4:]...)
	for name, c := range map[string]struct {
		label, place string
		note         []byte
	}{
		"another place":     {"member name", "place 2", note},
		"another label":     {"member grant", "place", note},
		"an epoch not here": {"member name", "place", gone},
		"another epoch":     {"member name", "place", another},
		"short":             {"member name", "place", note[:3]},
		"nothing":           {"member name", "place", nil},
	} {
		if _, err := OpenNote(c.label, c.note, []byte(c.place), of); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
