package abi

import (
	"bytes"
	"reflect"
	"runtime"
	"testing"
)

// FuzzEvent: no bytes make the decoder panic, and what it accepts is the same after encoding and
// decoding.
func FuzzEvent(f *testing.F) {
	f.Add(AppendEvent(nil, fullEvent()))
	f.Add([]byte("\xa2\x00\x01\x18\x30\x81\x81\x81\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, again Event
		if DecodeEvent(bytes.Clone(b), &e) != nil {
			return
		}
		if err := DecodeEvent(AppendEvent(nil, &e), &again); err != nil || !reflect.DeepEqual(e, again) {
			t.Fatalf("%v\n%+v\n%+v", err, e, again)
		}
	})
}

// FuzzOutput: the same for answers, which are untrusted; the memory allocated for one stays in
// proportion to the limits.
func FuzzOutput(f *testing.F) {
	f.Add(AppendOutput(nil, fullOutput()))
	f.Add([]byte("\xa2\x00\x01\x01\x98\x40\xa0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var o, again Output
		if DecodeOutput(b, Limits{}, &o) != nil {
			return
		}
		if err := DecodeOutput(AppendOutput(nil, &o), Limits{}, &again); err != nil || !reflect.DeepEqual(o, again) {
			t.Fatalf("%v\n%+v\n%+v", err, o, again)
		}
	})
}

// TestNoOverAllocation: the most expensive message for its length consists of empty elements; the
// contract's counts limit its cost.
func TestNoOverAllocation(t *testing.T) {
	spans := bytes.Repeat([]byte("\x83\x00\x00\x00"), MaxSpans)
	one := append([]byte("\xa1\x0c\x90"), spans...)
	b := append([]byte("\xa2\x00\x01\x01\x98\x40"), bytes.Repeat(one, MaxCandidates)...)
	for name, b := range map[string][]byte{
		"spans":    b,
		"claimed":  []byte("\xa2\x00\x01\x01\x81\xa1\x19\x00\x19\x98\x40"),
		"claimed2": []byte("\xa2\x00\x01\x06\x5a\x7f\xff\xff\xff"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = DecodeOutput(b, Limits{}, new(Output))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 256<<10 {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(b))
		}
	}
}
