package omi

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
)

// state is stored across restarts, as parts of the bridge's state file:
//
//	mic_gain the device's gain, 1 to 8, to be restored after a pause; 0: not known
//	ring   boot   boot under which stored records are published, by their numbers
//	          from, to records of the latest batch, to excluded
//	          sum      SHA-256 of their bytes
//	          dropped records that the device had overwritten, by its own count
//	          id    the ring's id; absent: the firmware has none
//	health  the device's own counters at the last look
type state struct {
	file    *carry.State
	MicGain byte
	Ring    ringState
	Health  counts
}

func openState(file *carry.State) (*state, error) {
	s := &state{file: file}
	for name, v := range map[string]any{"mic_gain": &s.MicGain, "ring": &s.Ring, "health": &s.Health} {
		if err := file.Part(name, v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

type ringState struct {
	Boot    uint64 `json:"boot"`
	From    uint64 `json:"from"`
	To      uint64 `json:"to"`
	Sum     string `json:"sum,omitempty"`
	Dropped uint64 `json:"dropped,omitempty"`
	ID      uint64 `json:"id,omitempty"`
}

type counts struct {
	Uptime        time.Duration `json:"uptime_ns"`
	MicOverruns   uint32        `json:"mic_overruns"`
	RadioDrops    uint32        `json:"radio_drops"`
	StorageErrors uint32        `json:"storage_errors"`
}

func (s *state) setGain(g byte) error {
	if s.MicGain == g {
		return nil
	}
	s.MicGain = g
	return s.file.Keep("mic_gain", g)
}

// newRing numbers the records under a new boot.
func (s *state) newRing() {
	s.Ring = ringState{Boot: carry.StoredBoot(), Dropped: s.Ring.Dropped}
}

// plan returns the next batch of unread records, at most limit of them.
//
// An interrupted batch comes again with the same bounds, and so as the same messages. Another id
// means another ring. A read cursor before the end of the last batch means that the ring was
// created again, or that another program moved the cursor. In both cases the numbers may mean
// different records, and get another boot.
func (s *state) plan(i frame.RingInfo, limit uint64) (from, to uint64) {
	r := &s.Ring
	same := r.ID == 0 || r.ID == i.Ring // new firmware may have given it an id since
	again := same && r.To > r.From && i.Read == r.From && i.Write >= r.To
	if !again && (r.Boot == 0 || !same || i.Read < r.To) {
		s.newRing()
	}
	r.ID = i.Ring
	if again {
		return r.From, r.To
	}
	return i.Read, i.Read + min(limit, i.Write-i.Read)
}

// batch stores the bounds and the digest of what is about to be published.
func (s *state) batch(from, to uint64, sum [32]byte) error {
	r := &s.Ring
	text := hex.EncodeToString(sum[:])
	if r.From == from && r.To == to && r.Sum != "" {
		if r.Sum == text {
			return nil
		}
		id := r.ID
		s.newRing() // different records with the same numbers
		r.ID = id
	}
	r.From, r.To, r.Sum = from, to, text
	return s.file.Keep("ring", r)
}

// overwritten returns how many records the device lost since the last call; 0 the first time. It is
// called before plan.
func (s *state) overwritten(dropped uint64) (n uint64) {
	r := &s.Ring
	switch {
	case r.Boot == 0:
	case dropped < r.Dropped:
		n = dropped // the device's count restarted
	default:
		n = dropped - r.Dropped
	}
	r.Dropped = dropped // saved with the next batch
	return n
}

// counted describes what the device counted since the last look; empty: nothing, or this is the
// first look.
func (s *state) counted(h frame.Health) (lost []string, err error) {
	now := counts{h.Uptime, h.MicOverruns, h.RadioDrops, h.StorageErrors}
	before, first := s.Health, s.Health == counts{}
	if now.Uptime < before.Uptime {
		before = counts{} // the device restarted, and counts from zero
	}
	for _, c := range []struct {
		what     string
		now, was uint32
	}{
		{"overruns of the microphone", now.MicOverruns, before.MicOverruns},
		{"notifications dropped by the radio", now.RadioDrops, before.RadioDrops},
		{"errors of the storage", now.StorageErrors, before.StorageErrors},
	} {
		if !first && c.now > c.was {
			lost = append(lost, fmt.Sprintf("%d %s", c.now-c.was, c.what))
		}
	}
	s.Health = now
	return lost, s.file.Keep("health", now)
}
