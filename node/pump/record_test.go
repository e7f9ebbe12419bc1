package pump

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// What a device sealed becomes the event that it would have been without the seal,
// under the identity and at the time that the intake used.
func TestUnsealed(t *testing.T) {
	id, received := seal.NewIdentity(), time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	at := received.Add(-time.Hour)
	head := func(seq uint64) wire.Header { return wire.Header{Boot: 7, Seq: seq, At: at} }
	sealed := func(to *seal.Recipient, b []byte) []byte {
		t.Helper()
		out, err := seal.SealTo(to, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wrap := func(m wire.Message) []byte {
		t.Helper()
		b, err := wire.Wrap(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	inner := &wire.Audio{Header: head(9), Codec: "pcm16", Rate: 16000, Data: []byte{1, 2}, Last: true}
	outer := func(data []byte) *memory.Event {
		e := wire.Event("pin", &wire.Sealed{Header: head(9), Data: data}, received, nil)
		return &e
	}
	got, err := unsealed(id, outer(sealed(id.Recipient(), wrap(inner))))
	if want := wire.Event("pin", inner, received, nil); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	late := *inner
	late.At = at.Add(time.Minute)
	if got, err := unsealed(id, outer(sealed(id.Recipient(), wrap(&late)))); err != nil || !got.At.Equal(at) {
		t.Errorf("the time within was believed: %+v, %v", got, err)
	}
	plain := wire.Event("pin", inner, received, nil)
	if got, err := unsealed(id, &plain); err != nil || got != &plain {
		t.Errorf("%v", err)
	}
	other := *inner
	other.Seq = 10
	for name, data := range map[string][]byte{
		"to another journal": sealed(seal.NewIdentity().Recipient(), wrap(inner)),
		"another message":    sealed(id.Recipient(), wrap(&other)),
		"no message":         sealed(id.Recipient(), []byte("audio")),
		"a location":         sealed(id.Recipient(), append([]byte("location\n"), wrap(inner)[6:]...)),
		"sealed twice":       sealed(id.Recipient(), append([]byte("sealed\n"), wrap(inner)[6:]...)),
		"changed":            bytes.Replace(sealed(id.Recipient(), wrap(inner)), []byte("mlkem"), []byte("mlkex"), 1),
		"nothing":            nil,
	} {
		if got, err := unsealed(id, outer(data)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := wire.Wrap(&wire.Location{Header: head(1)}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a location was wrapped: %v", err)
	}
}
