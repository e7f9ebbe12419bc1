package omi

import (
	"crypto/sha256"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
)

func open(t *testing.T, path string) *state {
	t.Helper()
	file, err := carry.OpenState(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Begin(); err != nil {
		t.Fatal(err)
	}
	s, err := openState(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A record's number never stands for two records, and a repeated batch makes the same messages.
func TestRecordNumbers(t *testing.T) {
	info := func(read, write uint64) frame.RingInfo { return frame.RingInfo{Read: read, Write: write} }
	for _, c := range []struct {
		name     string
		then     frame.RingInfo
		bytes    string // content of the batch
		from, to uint64
		newBoot  bool
	}{
		{"interrupted before the device was told", info(100, 150), "a", 100, 120, false},
		{"and the ring has grown", info(100, 900), "a", 100, 120, false},
		{"told", info(120, 150), "b", 120, 140, false},
		{"overwritten beyond", info(500, 600), "b", 500, 520, false},
		{"moved by others, inside of the batch", info(110, 150), "b", 110, 130, true},
		{"cleared", info(0, 150), "b", 0, 20, true},
		{"cleared, fewer than before", info(100, 110), "b", 100, 110, true},
		{"cleared, and by chance the same bounds", info(100, 150), "b", 100, 120, true},
	} {
		path := filepath.Join(t.TempDir(), "state.json")
		s := open(t, path)
		from, to := s.plan(info(100, 120), 20)
		if from != 100 || to != 120 {
			t.Fatal(from, to)
		}
		if err := s.batch(from, to, sha256.Sum256([]byte("a"))); err != nil {
			t.Fatal(err)
		}
		before := s.Ring.Boot
		s = open(t, path)
		if from, to = s.plan(c.then, 20); from != c.from || to != c.to {
			t.Errorf("%s: %d to %d", c.name, from, to)
		}
		if err := s.batch(from, to, sha256.Sum256([]byte(c.bytes))); err != nil {
			t.Fatal(err)
		}
		if got := s.Ring.Boot; got&carry.StoredBit == 0 || got >= 1<<53 || (got != before) != c.newBoot {
			t.Errorf("%s: boot %d after %d", c.name, got, before)
		}
		if open(t, path).Ring != s.Ring {
			t.Errorf("%s: not on disk", c.name)
		}
	}
}

// A ring's id tells rings apart even if all numbers are equal.
func TestRingID(t *testing.T) {
	for _, c := range []struct {
		name    string
		was, is uint64
		bytes   string
		newBoot bool
	}{
		{"the same", 7, 7, "a", false},
		{"made anew", 7, 8, "a", true},
		{"new firmware gives it an id", 0, 7, "a", false},
		{"new firmware, and made anew", 0, 7, "b", true},
		{"old firmware again", 7, 0, "a", true},
	} {
		s := open(t, filepath.Join(t.TempDir(), "state.json"))
		from, to := s.plan(frame.RingInfo{Read: 100, Write: 120, Ring: c.was}, 20)
		if err := s.batch(from, to, sha256.Sum256([]byte("a"))); err != nil {
			t.Fatal(err)
		}
		before := s.Ring.Boot
		from, to = s.plan(frame.RingInfo{Read: 100, Write: 120, Ring: c.is}, 20)
		if err := s.batch(from, to, sha256.Sum256([]byte(c.bytes))); err != nil {
			t.Fatal(err)
		}
		if from != 100 || to != 120 || (s.Ring.Boot != before) != c.newBoot || s.Ring.ID != c.is {
			t.Errorf("%s: %d to %d, boot %d after %d, id %d", c.name, from, to, s.Ring.Boot, before, s.Ring.ID)
		}
	}
}

func TestMicOverruns(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.json"))
	for i, c := range []struct {
		h    frame.Health
		want string
	}{
		{frame.Health{Uptime: time.Hour, MicOverruns: 5}, ""}, // it is unknown when these were counted
		{frame.Health{Uptime: 2 * time.Hour, MicOverruns: 7, StorageErrors: 1}, "2 overruns of the microphone; 1 errors of the storage"},
		{frame.Health{Uptime: 3 * time.Hour, MicOverruns: 7, StorageErrors: 1}, ""},
		{frame.Health{Uptime: time.Minute, RadioDrops: 3}, "3 notifications dropped by the radio"}, // the device restarted
	} {
		got, err := s.counted(c.h)
		if err != nil || strings.Join(got, "; ") != c.want {
			t.Errorf("%d: %q, %v", i, got, err)
		}
	}
}

func TestOverwrittenRecords(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.json"))
	for i, c := range []struct{ dropped, want uint64 }{{7, 0}, {7, 0}, {9, 2}, {3, 3}, {3, 0}} {
		if got := s.overwritten(c.dropped); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
		if i == 0 {
			s.plan(frame.RingInfo{Read: 1, Write: 2}, 1)
		}
	}
}
