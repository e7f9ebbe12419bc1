package backup

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A backup is made when it is due, across restarts. A failure is retried sooner,
// recorded, and cleared after a success. With a locked node it waits.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		began := time.Now()
		var at []time.Duration
		var results []error
		run := func(d time.Duration) {
			s := Schedule{Home: home, To: "/stick", Every: 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Do: func(context.Context) (Written, bool, error) {
				var err error
				if len(results) > 0 {
					err, results = results[0], results[1:]
				}
				if !errors.Is(err, memory.ErrLocked) {
					at = append(at, time.Since(began).Round(time.Hour))
				}
				return Written{Records: 7}, true, err
			}}
			ctx, end := context.WithTimeout(t.Context(), d)
			defer end()
			s.Run(ctx)
		}
		results = []error{memory.ErrLocked, memory.ErrLocked}
		run(30 * time.Hour)
		run(30 * time.Hour)
		if want := []time.Duration{0, 24 * time.Hour, 48 * time.Hour}; !slices.Equal(at, want) {
			t.Errorf("at %v, want %v", at, want)
		}
		gone := errors.New("the stick is gone")
		results = slices.Repeat([]error{gone}, 300)
		before := len(at)
		run(12*time.Hour + 30*time.Minute) // due is 72 h
		st, err := stateOf(home)
		if err != nil || st.Failures == 0 || st.Error != gone.Error() || st.At.IsZero() || st.Written.Records != 7 || len(at) == before {
			t.Errorf("%+v, %v, %v", st, err, at)
		}
		results = nil
		run(12 * time.Hour)
		if st, err := stateOf(home); err != nil || st.Failures != 0 || st.Error != "" || !st.Vault {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// A newer backup that a person made in the same place counts as the schedule's last one.
func TestBackupByHandCounts(t *testing.T) {
	now := time.Now().UTC()
	old, failed := now.Add(-48*time.Hour), now.Add(-24*time.Hour)
	for name, c := range map[string]struct {
		scheduled *State
		hand      string // where a person made one now; empty: nowhere
		at        time.Time
		vault     bool
		failures  int
	}{
		"none":              {nil, "", time.Time{}, false, 0},
		"only by hand":      {nil, "/stick", now, true, 0},
		"by hand elsewhere": {nil, "/disk", time.Time{}, false, 0},
		"only scheduled":    {&State{To: "/stick", At: old, Failed: failed, Failures: 2, Error: "gone"}, "", old, false, 2},
		"both":              {&State{To: "/stick", At: old}, "/stick", now, true, 0},
		"after a failure":   {&State{To: "/stick", At: old, Failed: failed, Failures: 2, Error: "gone"}, "/stick", now, true, 0},
		"before a failure":  {&State{To: "/stick", At: old, Failed: now.Add(time.Hour), Failures: 2, Error: "gone"}, "/stick", now, true, 2},
		"before the last":   {&State{To: "/stick", At: now.Add(time.Hour)}, "/stick", now.Add(time.Hour), false, 0},
		"another schedule":  {&State{To: "/disk", At: now.Add(time.Hour)}, "/stick", now, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if c.scheduled != nil {
				if err := writeState(home, stateFile, c.scheduled); err != nil {
					t.Fatal(err)
				}
			}
			if c.hand != "" {
				if err := writeState(home, handFile, &State{To: c.hand, At: now, Vault: true}); err != nil {
					t.Fatal(err)
				}
			}
			st, err := LastOf(home, "/stick")
			if err != nil || !st.At.Equal(c.at) || st.Vault != c.vault || st.Failures != c.failures || (st.Error == "") != (c.failures == 0) {
				t.Errorf("%+v, %v", st, err)
			}
		})
	}
}
