package carry

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/internal/atomicfile"
)

// stateVersion is that of the file.
const stateVersion = 1

// State is what must outlive the process, in a file of JSON that is replaced as
// a whole and synced:
//
//	version   1
//	boot      of the latest start; each start takes the next, so that no
//	          (boot, seq) is ever used twice
//	mic_gain  of the device, 1 to 8, to be restored after a pause; 0: not known
//	ring      boot     under which stored records are published, by their numbers
//	          from, to records of the latest batch, to excluded
//	          sum      SHA-256 of their bytes
//	          dropped  records that the device had overwritten, by its count
//	          id       of the ring; absent: the firmware gives it none
//	health    what the device last counted about itself
//
// It is used by one goroutine at a time.
type State struct {
	path string
	v    stateFile
}

type stateFile struct {
	Version int       `json:"version"`
	Boot    uint64    `json:"boot"`
	MicGain byte      `json:"mic_gain,omitempty"`
	Ring    ringState `json:"ring,omitzero"`
	Health  counts    `json:"health,omitzero"`
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

// OpenState reads a state file; one that is not there begins anew.
func OpenState(path string) (*State, error) {
	s := &State{path: path, v: stateFile{Version: stateVersion}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.v.Boot = random() >> 16 // 48 bits: starts have room to count on
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if err := json.Unmarshal(b, &s.v); err != nil {
		return nil, fmt.Errorf("state: %s: %w", path, err)
	}
	if s.v.Version != stateVersion {
		return nil, fmt.Errorf("state: %s: version %d, want %d", path, s.v.Version, stateVersion)
	}
	return s, nil
}

// Begin takes the boot of this start, which is on disk when it returns.
func (s *State) Begin() (boot uint64, err error) {
	s.v.Boot++
	return s.v.Boot, s.save()
}

func (s *State) gain() byte { return s.v.MicGain }

func (s *State) setGain(g byte) error {
	if s.v.MicGain == g {
		return nil
	}
	s.v.MicGain = g
	return s.save()
}

// ringBit sets boots of stored records apart from those of starts, under 2^53.
const ringBit = 1 << 52

// newRing begins to number records anew.
func (s *State) newRing() {
	s.v.Ring = ringState{Boot: random()>>12 | ringBit, Dropped: s.v.Ring.Dropped}
}

// plan gives the next batch of what is unread, at most limit records.
//
// A batch that was interrupted comes again with the same bounds, and so the same
// messages. Another id means another ring. A read cursor before the end of the
// last batch means that the ring was made anew, or that somebody else moved the
// cursor. In both cases the numbers may mean something else now, and get another
// boot.
func (s *State) plan(i omi.RingInfo, limit uint64) (from, to uint64) {
	r := &s.v.Ring
	same := r.ID == 0 || r.ID == i.Ring // it may have got its id since, with new firmware
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

// batch notes the bounds and the digest of what is about to be published.
func (s *State) batch(from, to uint64, sum [32]byte) error {
	r := &s.v.Ring
	text := hex.EncodeToString(sum[:])
	if r.From == from && r.To == to && r.Sum != "" {
		if r.Sum == text {
			return nil
		}
		id := r.ID
		s.newRing() // other records under the same numbers
		r.ID = id
	}
	r.From, r.To, r.Sum = from, to, text
	return s.save()
}

// overwritten gives how many records the device lost since it was last asked; 0
// the first time. It is asked before plan.
func (s *State) overwritten(dropped uint64) (n uint64) {
	r := &s.v.Ring
	switch {
	case r.Boot == 0:
	case dropped < r.Dropped:
		n = dropped // it counts anew
	default:
		n = dropped - r.Dropped
	}
	r.Dropped = dropped // saved with the next batch
	return n
}

// counted gives what the device counted since the last look, in words; empty:
// nothing, or this is the first look.
func (s *State) counted(h omi.Health) (lost []string, err error) {
	now := counts{h.Uptime, h.MicOverruns, h.RadioDrops, h.StorageErrors}
	before, first := s.v.Health, s.v.Health == counts{}
	if now.Uptime < before.Uptime {
		before = counts{} // it started anew, and counts from zero
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
	s.v.Health = now
	return lost, s.save()
}

func random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

func (s *State) save() error {
	b, err := json.Marshal(s.v)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	if err == nil {
		err = atomicfile.Write(s.path, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}
