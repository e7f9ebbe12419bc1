package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
)

// State describes the scheduled backups of a home.
type State struct {
	To    string    `json:"to"`
	Every string    `json:"every,omitempty"`
	At    time.Time `json:"at,omitzero"` // when the last one was made
	// About the last one that was made.
	Written Written `json:"written"`
	Vault   bool    `json:"vault"` // it includes the values of the vault

	Failures int       `json:"failures,omitempty"` // since the last one that was made
	Failed   time.Time `json:"failed,omitzero"`
	Error    string    `json:"error,omitempty"`
}

const (
	stateFile = "backup.json"
	handFile  = "backup-by-hand.json"
)

// stateOf reads the state of the scheduled backups of a home. It is nil if there was
// none.
func stateOf(home string) (*State, error) { return readState(home, stateFile) }

// ByHand reads the state of the last backup that a person made. It is nil if there was
// none.
func ByHand(home string) (*State, error) { return readState(home, handFile) }

// LastOf returns the state of the backups to a place, as a person named it: those of the
// schedule, and the last one that a person made there.
func LastOf(home, to string) (State, error) {
	last := State{To: to}
	st, err := stateOf(home)
	if st != nil && st.To == to {
		last = *st
	}
	hand, e := ByHand(home)
	if hand != nil && hand.To == to && hand.At.After(last.At) {
		last.At, last.Written, last.Vault = hand.At, hand.Written, hand.Vault
		if hand.At.After(last.Failed) {
			last.Failures, last.Failed, last.Error = 0, time.Time{}, ""
		}
	}
	return last, errors.Join(err, e)
}

// NoteByHand records that a person made a backup now. vault says whether it includes the
// values of the vault.
func NoteByHand(home, to string, w Written, vault bool) error {
	if !strings.Contains(to, "://") {
		abs, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		to = abs
	}
	return writeState(home, handFile, &State{To: to, At: time.Now().UTC(), Written: w, Vault: vault})
}

func writeState(home, file string, st *State) error {
	b, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(home, file), append(b, '\n'))
}

func readState(home, file string) (*State, error) {
	b, err := os.ReadFile(filepath.Join(home, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var s State
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %s: %w", file, err)
	}
	return &s, nil
}

// Schedule makes backups at intervals.
type Schedule struct {
	Home  string
	To    string // as a person named it
	Every time.Duration
	// Do makes a backup. vault says whether it includes the values of the vault. If the
	// node is locked, the error is memory.ErrLocked, and it is tried again later.
	Do  func(context.Context) (w Written, vault bool, err error)
	Now func() time.Time // nil: time.Now
	Log *slog.Logger
}

// How soon it is tried again after a failure, and how often the clock is checked,
// because a machine may sleep meanwhile.
const (
	firstRetry = 5 * time.Minute
	mostRetry  = 6 * time.Hour
	firstLook  = 5 * time.Second // after the start
	look       = time.Minute
)

// Run makes backups until ctx ends.
func (s *Schedule) Run(ctx context.Context) {
	if s.Now == nil {
		s.Now = time.Now
	}
	st, err := stateOf(s.Home)
	if err != nil {
		s.Log.Warn("it is not known when the last backup was made", "error", err)
	}
	if st == nil || st.To != s.To {
		st = &State{To: s.To}
	}
	st.Every = s.Every.String()
	for pause := firstLook; wait.For(ctx, pause); {
		pause = look
		if st.rests(s.Every, s.Now()) {
			continue
		}
		w, vault, err := s.Do(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, memory.ErrLocked):
			continue
		case err != nil:
			st.Failures, st.Failed, st.Error = st.Failures+1, s.Now().UTC(), err.Error()
			s.Log.Error("no backup was made", "to", s.To, "error", err)
		default:
			*st = State{To: s.To, Every: st.Every, At: s.Now().UTC(), Written: w, Vault: vault}
		}
		if err := writeState(s.Home, stateFile, st); err != nil {
			s.Log.Error("the outcome of the backup could not be recorded", "error", err)
		}
	}
}

// rests reports whether the next backup is not due yet. If the clock was set back, it is
// due.
func (st *State) rests(every time.Duration, now time.Time) bool {
	last, pause := st.At, every
	if st.Failures > 0 {
		last, pause = st.Failed, retry.After(st.Failures, min(firstRetry, every), min(mostRetry, every))
	}
	return !now.Before(last) && now.Before(last.Add(pause))
}
