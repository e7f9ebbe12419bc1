package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// A dictionary that was used for writing never changes.
func TestCompressionDictionary(t *testing.T) {
	if sum := sha256.Sum256(dictionary); hex.EncodeToString(sum[:]) != "485fc54b1cc702ced557aa443aa28c9d86f42ccb92858ed6211347e8c1850830" {
		t.Errorf("dictionary.1 is now %x", sum)
	}
	const text = "batt2024-01-05T08:00:32Z dlangben dzonemEurope/Dublin event seq boot fdevicegpendant espeakergsession hreceivedx"
	frame, err := hex.DecodeString("2101704d02008402342d30312d303533325a20204475626c696e202073657120626f6f74206770656e64616e742065200a0007e52d24650206ca8c682f11683663c7c1c5015f5c4ac82e6036ce2610")
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := unpress(frame); err != nil || string(plain) != text {
		t.Errorf("%q, %v", plain, err)
	}
}

func TestCompressedSizes(t *testing.T) {
	u, err := encode(utteranceRecord{Document: 205, Outbox: 200, Utterance: mustEncode(t, &memory.Utterance{
		ID: testID(1), Event: memory.EventID{Device: "pendant", Boot: 1, Seq: 149}, Session: "20240105T080032Z", At: noon, Received: noon,
		Zone: "Europe/Dublin", Speaker: "Ana", Lang: "en", Text: "The spare key is under the blue pot.", Source: memory.Source{Device: "pendant"}})})
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, maxValue)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, c := range map[string]struct {
		plain []byte
		most  int // bytes of its value besides what sealing adds
	}{
		"an utterance":   {u, len(u) * 7 / 10},
		"the longest":    {bytes.Repeat([]byte("longest "), maxValue/8), 1000},
		"nothing alike":  {noise, len(noise)},
		"nothing at all": {nil, 0},
		"a number":       {[]byte{7}, 1},
	} {
		sec, key := newSecrets(testKey()), utteranceKey(testID(1))
		const version = 1<<63 - 1 // the greatest version
		value := sec.seal(key, version, c.plain)
		if n := len(value) - versionSize - 41; n > c.most {
			t.Errorf("%s of %d bytes takes %d, want %d at most", name, len(c.plain), n, c.most)
		}
		v, plain, err := sec.open(key, value)
		if err != nil || v != version || !bytes.Equal(plain, c.plain) {
			t.Errorf("%s: version %d, the same %v, %v", name, v, bytes.Equal(plain, c.plain), err)
		}
	}
}

// A flipped bit in a value that is not sealed is found, as in a sealed one.
func TestUnsealedValuesDetectEachFlippedBit(t *testing.T) {
	sec := newSecrets(testKey())
	of := utteranceKey(testID(1))
	for key, plain := range map[string][]byte{
		string(sec.guardKey(of)):                                    append(bytes.Repeat([]byte{3}, tagSize), of...),
		string(keyOf(kindUtteranceTime, timeKey(noon), idBytes(1))): nil,
	} {
		value := sec.seal([]byte(key), 12, plain)
		if len(value) != versionSize+1+len(plain)+macSize || !bytes.Contains(value, plain) {
			t.Errorf("%d bytes for %d", len(value), len(plain))
		}
		if version, got, err := sec.open([]byte(key), value); version != 12 || !bytes.Equal(got, plain) || err != nil {
			t.Errorf("version %d, %x, %v", version, got, err)
		}
		for i := range 8 * len(value) {
			v := slices.Clone(value)
			v[i/8] ^= 1 << (i % 8)
			if _, _, err := sec.open([]byte(key), v); !errors.Is(err, memory.ErrDamaged) {
				t.Errorf("bit %d: %v", i, err)
			}
		}
		if _, _, err := sec.open([]byte(key+"x"), value); !errors.Is(err, memory.ErrDamaged) {
			t.Errorf("under another key: %v", err)
		}
	}
}

// A transaction writes one record for all the buckets that it touches, and the sum of a bucket that
// is not touched any more survives the turns.
func TestTurns(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error { return tx.PutUtterance(heard(1, "first")) })
	for i := range 3 * turns {
		update(t, s, func(tx *Tx) error { return tx.SetCursor("journal", uint64(i+1)) })
	}
	s = reopen(t, s)
	sound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, s.opt.Dir, func(txn *badger.Txn) error {
		if keys := keysUnder(txn, kindHead); len(keys) != 1+turns {
			t.Errorf("%d records of head and buckets", len(keys))
		}
		return nil
	})
}

// If the last sum of a bucket is lost, the previous one does not show what was deleted, because the
// last record did not exist when it was computed.
func TestSalvageKeepsRecordsAfterTheLastSum(t *testing.T) {
	s := open(t, t.TempDir())
	sec, names := newSecrets(testKey()), map[int]string{}
	var pair []string // two devices in one bucket
	for i := 0; len(pair) == 0; i++ {
		name := "pin-" + strings.Repeat("x", i)
		n := int(sec.guardKey(keyOf(kindDevice, sec.mac16("name", []byte(name))))[1])
		if names[n] != "" {
			pair = []string{names[n], name}
		}
		names[n] = name
	}
	key := func(i int) []byte { return keyOf(kindDevice, sec.mac16("name", []byte(pair[i]))) }
	n := sec.guardKey(key(0))[1]
	update(t, s, func(tx *Tx) error { return tx.PutDevice(Device{Name: pair[0]}) })
	before := s.state.buckets[n]
	update(t, s, func(tx *Tx) error { return tx.PutDevice(Device{Name: pair[1]}) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sv := newSalvage(testOptions(s.opt.Dir))
	defer sv.secrets.zero()
	if err := sv.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sv.buckets[n] == before || sv.newest[string(key(1))].version == 0 {
		t.Fatal("the bucket has only its first sum")
	}
	sv.buckets[n] = before
	chosen := sv.choose()
	for i := range pair {
		if _, ok := chosen[string(key(i))]; !ok {
			t.Errorf("record %d is left out", i)
		}
	}
	if !slices.ContainsFunc(sv.out.Lost, func(d Damage) bool { return d.Kind == "bucket" }) {
		t.Errorf("nobody says so: %v", sv.out.Lost)
	}
}
