package omi

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
	"time"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The good ones are taken from Omi's app/test/unit/ring_protocol_test.dart (MIT).
func TestRing(t *testing.T) {
	for _, c := range []struct {
		in   string
		want RingItem
	}{
		{"01 00", RingAck{RingOK}},
		{"01 0a", RingAck{RingRange}},
		{"02 00000000000003e8 00000000000005dc 00001000 0000000000000007 01bc", RingInfo{Read: 1000, Write: 1500, Capacity: 4096, Dropped: 7}},
		{"02 00000000000003e8 00000000000005dc 00001000 0000000000000007 01bc 0f 01 000000000000", RingInfo{Read: 1000, Write: 1500, Capacity: 4096, Dropped: 7}}, // 39 bytes: the contract's fields are incomplete
		{"03 ff", RingData{0xff}},
		{"04 00 0000000000003039", RingDone{Status: RingOK, Next: 12345}},
		{"04 06 0000000000000000", RingDone{Status: RingInvalid}},
		{"05 00000000000003e7 00000032", RingBegin{999, 50}},
	} {
		if got, err := ParseRing(unhex(t, c.in)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", c.in, got, err)
		}
	}
	for _, in := range []string{
		"", "00", "01", "02", "03", "04 00", "05 00000000000000", "06 00", "06 0000000000001122 0000000000000005 00", "ff",
		"02 00000000000003e8 00000000000005dc 00001000 0000000000000007 01bb",                        // records of 443 bytes
		"02 00000000000003e8 00000000000005dc 00001000 0000000000000007 01bc 0f 01 0000000000000000", // a ring without an id
		"02 00000000000005dd 00000000000005dc 00001000 0000000000000007 01bc",                        // read after write
	} {
		if got, err := ParseRing(unhex(t, in)); err == nil {
			t.Errorf("%s: taken as %+v", in, got)
		}
	}
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{RingRead(0x0123456789abcdef, 0), "11 0123456789abcdef"},
		{RingRead(1, 100), "11 0000000000000001 00000064"},
		{RingAdvance(0xcafebabe), "12 00000000cafebabe"},
		{RingAdvanceIn(0x1122, 2), "15 0000000000001122 0000000000000002"},
		{RingStop[:], "03"}, {AskInfo[:], "10"}, {RingClear[:], "13"},
	} {
		if want := unhex(t, c.want); !bytes.Equal(c.got, want) {
			t.Errorf("% x, want % x", c.got, want)
		}
	}
}

func record(epoch string, audio []byte) []byte {
	b, _ := hex.DecodeString(epoch)
	return append(b, append(audio, make([]byte, recordAudio-len(audio))...)...)
}

func TestRecord(t *testing.T) {
	full := func(n, size int) (b []byte) {
		for i := range n {
			b = append(append(b, byte(size)), bytes.Repeat([]byte{byte(i)}, size)...)
		}
		return b
	}
	for _, c := range []struct {
		name  string
		in    []byte
		sizes []int
	}{
		{"one", record("6824b5c0", []byte{3, 0xaa, 0xbb, 0xcc}), []int{3}},
		{"two", record("6824b5c0", full(2, 80)), []int{80, 80}},
		{"zeros between", record("6824b5c0", []byte{2, 1, 2, 0, 2, 3, 4}), []int{2, 2}},
		{"beyond the end", record("6824b5c0", append(full(4, 100), 100)), []int{100, 100, 100, 100}},
		{"one ends with the record", record("6824b5c0", full(40, 10)), []int{10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}},
		{"the last ends with the record", record("6824b5c0", append(full(1, 218), append([]byte{220}, bytes.Repeat([]byte{7}, 220)...)...)), []int{218}},
		{"the last ends a byte before", record("6824b5c0", append(full(1, 218), append([]byte{219}, bytes.Repeat([]byte{7}, 219)...)...)), []int{218, 219}},
		{"empty", record("6824b5c0", nil), nil},
	} {
		r, err := ParseRecord(c.in)
		var sizes []int
		for _, f := range r.Frames {
			sizes = append(sizes, len(f))
		}
		if err != nil || !reflect.DeepEqual(sizes, c.sizes) || !r.At.Equal(time.Unix(0x6824b5c0, 0)) {
			t.Errorf("%s: %v, %v, %v", c.name, sizes, r.At, err)
		}
	}
	if r, err := ParseRecord(record("00000000", nil)); err != nil || !r.At.IsZero() || r.Uptime != -1 {
		t.Errorf("clock not set: %v, %v, %v", r.At, r.Uptime, err)
	}
	if r, err := ParseRecord(record("80000e10", nil)); err != nil || !r.At.IsZero() || r.Uptime != time.Hour {
		t.Errorf("since the start: %v, %v, %v", r.At, r.Uptime, err)
	}
	for _, n := range []int{0, 443, 445} {
		if _, err := ParseRecord(make([]byte, n)); err == nil {
			t.Errorf("a record of %d bytes was taken", n)
		}
	}
}

func TestTransfer(t *testing.T) {
	two := bytes.Repeat([]byte{1}, 2*RecordSize)
	sum := crc32.ChecksumIEEE(two)
	wrong := sum ^ 1
	begin := RingBegin{10, 2}
	for _, c := range []struct {
		name string
		in   []RingItem
		bad  string // empty: no error
	}{
		{"whole", []RingItem{begin, RingData(two[:100]), RingData(two[100:]), RingDone{Status: RingOK, Next: 12}}, ""},
		{"with its checksum", []RingItem{begin, RingData(two), RingDone{RingOK, 12, &sum}}, ""},
		{"with another checksum", []RingItem{begin, RingData(two), RingDone{RingOK, 12, &wrong}}, "another checksum"},
		{"a live mark between", []RingItem{begin, RingData(two), RingMark{1, 11, 0}, RingDone{Status: RingOK, Next: 12}}, ""},
		{"an ok before", []RingItem{RingAck{RingOK}, begin, RingData(two), RingDone{Status: RingOK, Next: 12}}, ""},
		{"fewer than asked for", []RingItem{RingBegin{10, 1}, RingData(two[:444]), RingDone{Status: RingOK, Next: 11}}, ""},
		{"none there", []RingItem{RingBegin{10, 0}, RingDone{Status: RingOK, Next: 10}}, ""},
		{"begins and gives up", []RingItem{begin, RingData(two[:444]), RingDone{Status: RingOK, Next: 11}}, ""},
		{"a notification is lost", []RingItem{begin, RingData(two[:100]), RingData(two[120:]), RingDone{Status: RingOK, Next: 12}}, "868 bytes came"},
		{"a record is lost", []RingItem{begin, RingData(two[444:]), RingDone{Status: RingOK, Next: 12}}, "444 bytes came"},
		{"refused", []RingItem{RingAck{RingRange}}, "no such record (10)"},
		{"fails", []RingItem{begin, RingData(two[:444]), RingDone{Status: RingNotReady, Next: 11}}, "storage not ready (9)"},
		{"of others", []RingItem{RingBegin{9, 2}}, "asked for 2 from 10"},
		{"more than asked for", []RingItem{RingBegin{10, 3}}, "asked for 2 from 10"},
		{"longer than it said", []RingItem{RingBegin{10, 1}, RingData(two)}, "more than 1 records"},
		{"begins twice", []RingItem{begin, begin}, "begins twice"},
		{"data first", []RingItem{RingData(two)}, "before its beginning"},
		{"end first", []RingItem{RingDone{Status: RingOK, Next: 10}}, "0 bytes came"},
	} {
		tr := NewTransfer(10, 2)
		var done bool
		var err error
		for _, i := range c.in {
			if done, err = tr.Push(i); err != nil {
				break
			}
		}
		switch {
		case c.bad == "" && (err != nil || !done):
			t.Errorf("%s: %v, %v", c.name, done, err)
		case c.bad != "" && (err == nil || done || !strings.Contains(err.Error(), c.bad)):
			t.Errorf("%s: %v, %v", c.name, done, err)
		}
	}
}

func FuzzRing(f *testing.F) {
	f.Add([]byte{0x04, 0, 0, 0, 0, 0, 0, 0, 0x30, 0x39})
	f.Add(record("6824b5c0", []byte{3, 1, 2, 3}))
	f.Fuzz(func(t *testing.T, in []byte) {
		tr := NewTransfer(0, 1)
		if i, err := ParseRing(in); err == nil {
			if done, err := tr.Push(i); err == nil && done && len(tr.Bytes())%RecordSize != 0 {
				t.Fatal("part of a record")
			}
		}
		if r, err := ParseRecord(in); err == nil {
			n := 0
			for _, f := range r.Frames {
				n += 1 + len(f)
			}
			if n >= recordAudio {
				t.Fatalf("%d bytes of frames", n)
			}
		}
		_, _, _ = ParseLegacy(in)
		_, _ = ParseStorage(in)
	})
}
