package omi

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func vectors(t *testing.T, name string, to any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatal(err)
	}
}

// The numbers come from Omi's own tests; testdata/README.md names their source.
func TestRingVectors(t *testing.T) {
	var v struct {
		Notify []struct {
			Name, Hex, Error, Is       string
			Read, Write, Dropped, Next uint64
			Capacity, Start, Count     uint32
			Caps, Status, Granted      uint8
			RingID                     uint64 `json:"ring_id"`
			RingSeq                    uint64 `json:"ring_seq"`
			LiveIndex                  uint16 `json:"live_index"`
			CRC32                      *uint32
		}
		Commands []struct {
			Name, Hex string
			Seq       uint64
			Count     uint32
			RingID    uint64 `json:"ring_id"`
		}
		Timestamps []struct {
			Hex     string
			Epoch   int64
			Unknown bool
			Uptime  int64 `json:"uptime_s"`
		}
	}
	vectors(t, "ring.json", &v)
	for _, c := range v.Notify {
		got, err := ParseRing(unhex(t, c.Hex))
		if (err != nil) != (c.Error != "") {
			t.Errorf("%s: %+v, %v", c.Name, got, err)
			continue
		}
		ok := true
		switch i := got.(type) {
		case RingInfo:
			ok = i == RingInfo{c.Read, c.Write, c.Capacity, c.Dropped, RingCaps(c.Caps), c.RingID}
		case RingDone:
			ok = uint8(i.Status) == c.Status && i.Next == c.Next && (i.Sum == nil) == (c.CRC32 == nil) && (i.Sum == nil || *i.Sum == *c.CRC32)
		case RingBegin:
			ok = i == RingBegin{uint64(c.Start), c.Count}
		case RingAck:
			ok = uint8(i.Status) == c.Status
		case RingMark:
			ok = i == RingMark{c.RingID, c.RingSeq, c.LiveIndex}
		case RingData:
			ok = c.Is == "data"
		}
		if !ok {
			t.Errorf("%s: %+v", c.Name, got)
		}
		// Nothing that is cut off is taken for complete, except data, which may be cut anywhere.
		b := unhex(t, c.Hex)
		for n := range len(b) {
			item, err := ParseRing(b[:n])
			if _, data := item.(RingData); err != nil || data {
				continue
			}
			switch i := item.(type) {
			case RingInfo:
				ok = n >= 31 && (n >= 41 || i.Caps == 0)
			case RingDone:
				ok = n >= 10 && (n >= 14 || i.Sum == nil)
			case RingAck:
				ok = n >= 2
			default:
				ok = false
			}
			if !ok {
				t.Errorf("%s, %d bytes of it: %+v", c.Name, n, item)
			}
		}
	}
	commands := map[string]func(seq, ring uint64, count uint32) []byte{
		"info":              func(uint64, uint64, uint32) []byte { return AskInfo[:] },
		"read all from":     func(seq, _ uint64, _ uint32) []byte { return RingRead(seq, 0) },
		"read":              func(seq, _ uint64, n uint32) []byte { return RingRead(seq, n) },
		"advance":           func(seq, _ uint64, _ uint32) []byte { return RingAdvance(seq) },
		"clear":             func(uint64, uint64, uint32) []byte { return RingClear[:] },
		"stop":              func(uint64, uint64, uint32) []byte { return RingStop[:] },
		"advance in a ring": func(seq, ring uint64, _ uint32) []byte { return RingAdvanceIn(ring, seq) },
	}
	seen := 0
	for _, c := range v.Commands {
		make, ok := commands[c.Name]
		if !ok {
			if c.Name != "custody enable" { // the bridge does not ask for it
				t.Errorf("%s is not written", c.Name)
			}
			continue
		}
		seen++
		if got := make(c.Seq, c.RingID, c.Count); string(got) != string(unhex(t, c.Hex)) {
			t.Errorf("%s: % x", c.Name, got)
		}
	}
	if seen != len(commands) {
		t.Errorf("%d of %d commands", seen, len(commands))
	}
	for _, c := range v.Timestamps {
		b := make([]byte, RecordSize)
		binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(unhex(t, c.Hex)))
		r, err := ParseRecord(b)
		want := Record{Uptime: -1}
		switch {
		case c.Epoch != 0:
			want.At = time.Unix(c.Epoch, 0)
		case !c.Unknown:
			want.Uptime = time.Duration(c.Uptime) * time.Second
		}
		if err != nil || !r.At.Equal(want.At) || r.Uptime != want.Uptime {
			t.Errorf("%s: %v %v, %v", c.Hex, r.At, r.Uptime, err)
		}
	}
}

func TestHealth(t *testing.T) {
	var v struct {
		Hex     string
		Reset   uint32 `json:"reset_cause"`
		Uptime  uint32 `json:"uptime_s"`
		Mic     uint32 `json:"mic_overruns"`
		Radio   uint32 `json:"ble_drops"`
		Storage uint32 `json:"storage_errors"`
	}
	vectors(t, "diagnostics.json", &v)
	b := unhex(t, v.Hex)
	got, err := ParseHealth(b)
	if err != nil || got != (Health{v.Reset, time.Duration(v.Uptime) * time.Second, v.Mic, v.Radio, v.Storage}) {
		t.Errorf("%+v, %v", got, err)
	}
	if longer, err := ParseHealth(append(b, 1, 2)); err != nil || longer != got {
		t.Errorf("with more behind it: %+v, %v", longer, err)
	}
	for n := range len(b) {
		if _, err := ParseHealth(b[:n]); err == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
	b[0] = 2
	if _, err := ParseHealth(b); err == nil {
		t.Error("version 2 was taken")
	}
}
