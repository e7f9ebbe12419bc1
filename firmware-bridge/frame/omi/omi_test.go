package omi

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestCodecs(t *testing.T) {
	for _, c := range []struct {
		in    byte
		want  Codec
		bytes int
		lasts time.Duration
	}{
		{0, Codec{"pcm16", 16000, 0}, 320, 10 * time.Millisecond},
		{1, Codec{"pcm16", 8000, 0}, 320, 20 * time.Millisecond},
		{10, Codec{"ulaw", 16000, 0}, 160, 10 * time.Millisecond},
		{11, Codec{"ulaw", 8000, 0}, 160, 20 * time.Millisecond},
		{20, Codec{"opus", 16000, 160}, 40, 10 * time.Millisecond},
		{21, Codec{"opus", 16000, 320}, 80, 20 * time.Millisecond},
	} {
		got, err := ParseCodec([]byte{c.in})
		if err != nil || got != c.want || got.Duration(make([]byte, c.bytes)) != c.lasts {
			t.Errorf("%d: %+v, %v, %v", c.in, got, err, got.Duration(make([]byte, c.bytes)))
		}
	}
	for _, bad := range [][]byte{nil, {2}, {22}, {255}, {20, 0}} {
		if c, err := ParseCodec(bad); !errors.Is(err, ErrFormat) {
			t.Errorf("% x: %+v, %v", bad, c, err)
		}
	}
}

func TestButtonAndBattery(t *testing.T) {
	for i, want := range []string{"", "single", "double", "long", "press", "release"} {
		if g, err := ParseButton([]byte{byte(i), 0, 0, 0, 9, 9, 9, 9}); err != nil || g != want {
			t.Errorf("button %d: %q, %v", i, g, err)
		}
	}
	for _, bad := range [][]byte{nil, {1}, {1, 0, 0, 0}, {6, 0, 0, 0, 0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, make([]byte, 9)} {
		if g, err := ParseButton(bad); err == nil {
			t.Errorf("button % x: %q", bad, g)
		}
	}
	if n, err := ParseBattery([]byte{87}); err != nil || n != 87 {
		t.Error(n, err)
	}
	for _, bad := range [][]byte{nil, {101}, {1, 2}} {
		if n, err := ParseBattery(bad); err == nil {
			t.Errorf("battery % x: %d", bad, n)
		}
	}
	f, err := ParseFeatures([]byte{0x44, 0x01, 0, 0})
	if err != nil || !f.Has(Button|OfflineStorage|MicGain) || f.Has(Speaker) {
		t.Errorf("%b, %v", f, err)
	}
	if _, err := ParseFeatures([]byte{1}); err == nil {
		t.Error("features of one byte were taken")
	}
	if b, err := TimeSync(time.Unix(0x6824b5c0, 999)); err != nil || !bytes.Equal(b, []byte{0xc0, 0xb5, 0x24, 0x68}) {
		t.Errorf("% x, %v", b, err)
	}
	for _, bad := range []time.Time{time.Unix(-1, 0), time.Unix(1<<32, 0)} {
		if b, err := TimeSync(bad); err == nil {
			t.Errorf("%s: % x", bad, b)
		}
	}
	if b, err := PhotoEvery(30); err != nil || b[0] != 30 {
		t.Error(b, err)
	}
	for _, bad := range []int{-1, 0, 4, 128} {
		if b, err := PhotoEvery(bad); err == nil {
			t.Errorf("every %d s: % x", bad, b)
		}
	}
}

func TestStorage(t *testing.T) {
	ring := []byte{0xd2, 4, 0, 0, 42, 0, 0, 0, 0x9f, 0x86, 1, 0, 1, 0, 0, 0}
	if s, err := ParseStorage(ring); err != nil || s != (Storage{Ring: true, Used: 1234, Unread: 42, Free: 99999, ClockValid: true}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := ParseStorage(ring[:8]); err != nil || s != (Storage{Used: 1234, Offset: 42}) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, n := range []int{0, 4, 12, 17} {
		if s, err := ParseStorage(make([]byte, n)); err == nil {
			t.Errorf("%d bytes: %+v", n, s)
		}
	}
	if b := LegacyRead.Bytes(881); !bytes.Equal(b, []byte{0, 1, 0, 0, 3, 0x70}) {
		t.Errorf("% x", b)
	}
	if b := LegacyHeartbeat.Bytes(0); !bytes.Equal(b, []byte{50, 1, 0, 0, 0, 0}) {
		t.Errorf("% x", b)
	}
	for in, failed := range map[byte]bool{0: false, 3: true, 4: true, 6: true, 100: false, 200: false} {
		if b, s, err := ParseLegacy([]byte{in}); err != nil || b != nil || s != LegacyStatus(in) || s.Failed() != failed {
			t.Errorf("%d: % x, %d, %v", in, b, s, err)
		}
	}
	if b, _, err := ParseLegacy(make([]byte, 440)); err != nil || len(b) != 440 {
		t.Error(len(b), err)
	}
	for _, bad := range [][]byte{nil, {7}, make([]byte, 441)} {
		if _, _, err := ParseLegacy(bad); err == nil {
			t.Errorf("% x was taken", clip(bad))
		}
	}
}
